INSERT INTO quipu.servers (id, name, version) VALUES ($1, $2, $3)
ON CONFLICT (id) DO UPDATE SET seen_at = now()
