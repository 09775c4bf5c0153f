SELECT name FROM quipu.blobs WHERE user_id = $1 AND fence = $2 AND part = 0 ORDER BY name
