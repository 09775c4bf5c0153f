INSERT INTO quipu.api_keys (id, name, digest, scopes, user_id, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
