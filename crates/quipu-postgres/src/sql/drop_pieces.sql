-- With $6, only if the holder $7 has that lease.
DELETE FROM quipu.blobs WHERE user_id = $1 AND fence = $2 AND name = $4 AND part >= $5 AND EXISTS (
    SELECT 1 FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state <> 2 AND last_control <= $3
) AND ($6::text IS NULL OR EXISTS (
    SELECT 1 FROM quipu.leases WHERE user_id = $1 AND fence = $2 AND name = $6 AND holder = $7
))
