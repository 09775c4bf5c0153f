SELECT user_id FROM quipu.heads WHERE state = 0 ORDER BY user_id
