-- Positions before which one or more are missing.
SELECT e.seq FROM event AS e
WHERE e.seq > 1 AND NOT EXISTS (SELECT 1 FROM event AS p WHERE p.seq = e.seq - 1)
ORDER BY e.seq LIMIT ?1
