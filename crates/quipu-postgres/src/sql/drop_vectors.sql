DELETE FROM quipu.vectors WHERE user_id = $1 AND fence = $2
