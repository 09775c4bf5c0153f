INSERT INTO quipu.vectors (user_id, fence, tag, key, bytes)
SELECT $1, $2, $4, v.* FROM unnest($5::bytea[], $6::bytea[]) AS v WHERE EXISTS (
    SELECT 1 FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state <> 2 AND last_control <= $3
)
ON CONFLICT (user_id, fence, key) DO UPDATE SET tag = excluded.tag, bytes = excluded.bytes
