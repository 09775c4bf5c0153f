SELECT key, bytes, tag FROM quipu.vectors WHERE user_id = $1 AND fence = $2 ORDER BY key
