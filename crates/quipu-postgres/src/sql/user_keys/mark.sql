UPDATE quipu_keys.user_keys SET state = CASE WHEN $3 = 'active' AND retired_by <> '{}' THEN 'retired' ELSE $3 END
WHERE user_id = $1 AND id = ANY ($2)
