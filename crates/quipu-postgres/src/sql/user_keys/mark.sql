UPDATE quipu_keys.user_keys SET state = $3 WHERE user_id = $1 AND id = ANY ($2)
