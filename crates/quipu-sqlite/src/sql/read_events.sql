SELECT e.seq, e.id, e.format, e.recorded_at, e.control, e.idempotency_key, e.request, e.header, e.hash,
       c.idx, c.erased, c.bytes, c.salt
FROM event AS e LEFT JOIN change AS c ON c.seq = e.seq
WHERE e.seq BETWEEN ?1 AND ?2
ORDER BY e.seq, c.idx
