SELECT id, state, retired_by, made_at, master, wrapped FROM quipu_keys.user_keys WHERE user_id = $1 ORDER BY made_at, id
