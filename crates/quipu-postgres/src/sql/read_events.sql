SELECT e.seq, e.id, e.format, e.recorded_at, e.control, k.key, k.request, e.header, e.hash
FROM quipu.events AS e LEFT JOIN quipu.keys AS k ON k.user_id = $1 AND k.fence = $2 AND k.seq = e.seq
WHERE e.user_id = $1 AND e.fence = $2 AND e.seq BETWEEN $3 AND $4
ORDER BY e.seq LIMIT $5
