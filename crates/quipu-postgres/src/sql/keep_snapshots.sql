DELETE FROM quipu.blobs
WHERE user_id = $1 AND fence = $2 AND name >= 'snapshot:' AND name < 'snapshot;' AND built_from_seq NOT IN (
    SELECT built_from_seq FROM quipu.blobs
    WHERE user_id = $1 AND fence = $2 AND name >= 'snapshot:' AND name < 'snapshot;' AND part = 0
    ORDER BY built_from_seq DESC LIMIT $4
) AND EXISTS (
    SELECT 1 FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state <> 2 AND last_control <= $3
)
