SELECT seq FROM quipu.events WHERE user_id = $1 AND fence = $2 AND id = $3
