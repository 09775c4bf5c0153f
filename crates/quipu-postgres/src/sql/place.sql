UPDATE quipu.heads SET state = 0
WHERE user_id = $1 AND fence = $2 AND state = 1
  AND NOT EXISTS (SELECT 1 FROM quipu.heads WHERE user_id = $1 AND state = 0)
RETURNING fence
