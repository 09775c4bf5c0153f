SELECT seq, request FROM quipu.keys WHERE user_id = $1 AND fence = $2 AND key = $3
