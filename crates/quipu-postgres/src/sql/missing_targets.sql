SELECT t.seq, t.idx FROM unnest($3::bigint[], $4::integer[]) AS t (seq, idx)
WHERE NOT EXISTS (
    SELECT 1 FROM quipu.changes AS c WHERE c.user_id = $1 AND c.fence = $2 AND c.seq = t.seq AND c.idx = t.idx
)
LIMIT 1
