INSERT INTO vector (key, bytes) VALUES (?1, ?2)
ON CONFLICT (key) DO UPDATE SET bytes = excluded.bytes
