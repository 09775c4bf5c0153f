DELETE FROM quipu.servers WHERE seen_at < now() - interval '1 day'
