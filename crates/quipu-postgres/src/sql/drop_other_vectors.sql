DELETE FROM quipu.vectors WHERE user_id = $1 AND fence = $2 AND tag <> $4 AND EXISTS (
    SELECT 1 FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state <> 2 AND last_control <= $3
)
