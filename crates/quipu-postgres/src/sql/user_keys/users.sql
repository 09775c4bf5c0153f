SELECT DISTINCT user_id FROM quipu_keys.user_keys WHERE $1::text IS NULL OR state = $1 ORDER BY user_id
