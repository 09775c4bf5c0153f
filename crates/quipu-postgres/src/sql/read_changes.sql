SELECT c.seq, c.idx, c.bytes, c.salt
FROM quipu.changes AS c
WHERE c.user_id = $1 AND c.fence = $2 AND c.seq >= $3 AND c.seq <= (
    SELECT max(p.seq) FROM (
        SELECT seq FROM quipu.events
        WHERE user_id = $1 AND fence = $2 AND seq BETWEEN $3 AND $4 ORDER BY seq LIMIT $5
    ) AS p
)
ORDER BY c.seq, c.idx
