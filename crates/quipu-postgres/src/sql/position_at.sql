SELECT max(seq) FROM quipu.events WHERE user_id = $1 AND fence = $2 AND recorded_at <= $3
