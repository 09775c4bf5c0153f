SELECT fence, seq, hash FROM quipu.heads WHERE user_id = $1 AND state = 0
