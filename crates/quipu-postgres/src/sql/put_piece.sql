-- With $10, only if the holder $11 has that lease.
INSERT INTO quipu.blobs (user_id, fence, name, part, built_from_seq, tag, checksum, bytes)
SELECT $1, $2, $4, $5, $6, $7, $8, $9 WHERE EXISTS (
    SELECT 1 FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state <> 2 AND last_control <= $3
) AND ($10::text IS NULL OR EXISTS (
    SELECT 1 FROM quipu.leases WHERE user_id = $1 AND fence = $2 AND name = $10 AND holder = $11
))
ON CONFLICT (user_id, fence, name, part) DO UPDATE
SET built_from_seq = excluded.built_from_seq, tag = excluded.tag, checksum = excluded.checksum, bytes = excluded.bytes
