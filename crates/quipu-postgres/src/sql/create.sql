INSERT INTO quipu.heads (user_id, fence, state, seq, hash) VALUES ($1, gen_random_uuid(), $2, 0, $3)
ON CONFLICT DO NOTHING
RETURNING fence
