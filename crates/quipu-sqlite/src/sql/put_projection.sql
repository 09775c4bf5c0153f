INSERT INTO projection (name, seq, tag, length) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, tag = excluded.tag, length = excluded.length
