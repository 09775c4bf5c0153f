DELETE FROM quipu_keys.user_keys WHERE user_id = $1 AND id = ANY ($2)
