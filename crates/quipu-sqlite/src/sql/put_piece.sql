INSERT INTO piece (owner, part, bytes) VALUES (?1, ?2, ?3)
ON CONFLICT (owner, part) DO UPDATE SET bytes = excluded.bytes
