SELECT user_id FROM quipu.heads WHERE state = 0 LIMIT 1
