SELECT key, bytes FROM quipu.vectors WHERE user_id = $1 AND fence = $2 AND tag = $3 ORDER BY key
