-- Positions before which one or more are missing.
SELECT e.seq FROM quipu.events AS e
WHERE e.user_id = $1 AND e.fence = $2 AND e.seq > 1 AND NOT EXISTS (
    SELECT 1 FROM quipu.events AS p WHERE p.user_id = $1 AND p.fence = $2 AND p.seq = e.seq - 1
)
ORDER BY e.seq LIMIT $3
