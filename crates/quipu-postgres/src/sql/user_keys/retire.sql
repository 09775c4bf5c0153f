UPDATE quipu_keys.user_keys
SET state = CASE WHEN state = 'building' THEN state ELSE 'retired' END,
    -- Once, also if it is repeated after a lost answer.
    retired_by = CASE WHEN $2 = ANY (retired_by) THEN retired_by ELSE retired_by || $2 END
WHERE user_id = $1
