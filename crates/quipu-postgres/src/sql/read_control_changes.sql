SELECT c.seq, c.idx, c.bytes, c.salt
FROM quipu.changes AS c
WHERE c.user_id = $1 AND c.fence = $2 AND c.seq IN (
    SELECT seq FROM quipu.events
    WHERE user_id = $1 AND fence = $2 AND control AND seq BETWEEN $3 AND $4 ORDER BY seq LIMIT $5
)
ORDER BY c.seq, c.idx
