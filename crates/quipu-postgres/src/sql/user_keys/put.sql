INSERT INTO quipu_keys.user_keys (user_id, id, state, retired_by, made_at, master, wrapped) VALUES ($1, $2, $3, $4, $5, $6, $7)
