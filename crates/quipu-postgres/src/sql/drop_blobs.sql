DELETE FROM quipu.blobs WHERE user_id = $1 AND fence = $2
