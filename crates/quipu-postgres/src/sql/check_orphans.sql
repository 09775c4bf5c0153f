-- Positions of changes and keys whose event is missing.
SELECT o.seq FROM (
    SELECT seq FROM quipu.changes WHERE user_id = $1 AND fence = $2
    UNION SELECT seq FROM quipu.keys WHERE user_id = $1 AND fence = $2
) AS o
WHERE NOT EXISTS (SELECT 1 FROM quipu.events AS e WHERE e.user_id = $1 AND e.fence = $2 AND e.seq = o.seq)
ORDER BY o.seq LIMIT $3
