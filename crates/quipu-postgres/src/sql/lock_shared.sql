-- Appends go on; an erasure, a revert and a removal wait.
SELECT seq, last_control, state FROM quipu.heads WHERE user_id = $1 AND fence = $2 FOR KEY SHARE
