SELECT seq, hash, state FROM quipu.heads WHERE user_id = $1 AND fence = $2
