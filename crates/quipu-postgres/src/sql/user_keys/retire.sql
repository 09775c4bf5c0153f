UPDATE quipu_keys.user_keys SET state = 'retired', retired_by = $2 WHERE user_id = $1 AND state <> 'building'
