SELECT seq, encode(hash, 'hex'), state FROM quipu.heads WHERE user_id = $1 AND fence = $2
