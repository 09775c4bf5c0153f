UPDATE quipu_keys.user_keys SET master = $3, wrapped = $4 WHERE user_id = $1 AND id = $2 AND wrapped IN ($5, $4) RETURNING 1
