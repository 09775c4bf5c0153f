-- Waits for checkpoints in progress, and keeps new ones waiting.
SELECT seq, last_control, state FROM quipu.heads WHERE user_id = $1 AND fence = $2 FOR UPDATE
