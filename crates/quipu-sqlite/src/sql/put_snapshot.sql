INSERT INTO snapshot (seq, length) VALUES (?1, ?2)
ON CONFLICT (seq) DO UPDATE SET length = excluded.length
