SELECT id, name, version, greatest(0, extract(epoch FROM now() - seen_at) * 1000)::bigint FROM quipu.servers ORDER BY name, id
