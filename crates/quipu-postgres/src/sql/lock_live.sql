SELECT fence, seq FROM quipu.heads WHERE user_id = $1 AND state = 0 FOR UPDATE
