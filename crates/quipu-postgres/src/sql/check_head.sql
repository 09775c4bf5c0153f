-- A row if the head is not the newest event, or does not know the newest control event.
SELECT h.seq FROM quipu.heads AS h
LEFT JOIN quipu.events AS e ON e.user_id = $1 AND e.fence = $2 AND e.seq = h.seq
WHERE h.user_id = $1 AND h.fence = $2 AND (
    (h.seq > 0 AND e.hash IS DISTINCT FROM h.hash)
    OR h.seq <> coalesce((SELECT max(seq) FROM quipu.events WHERE user_id = $1 AND fence = $2), 0)
    OR h.last_control <> coalesce((SELECT max(seq) FROM quipu.events WHERE user_id = $1 AND fence = $2 AND control), 0)
)
