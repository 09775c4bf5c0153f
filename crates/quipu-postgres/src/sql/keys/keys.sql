SELECT id, name, digest, scopes, user_id, created_at, revoked_at FROM quipu.api_keys ORDER BY created_at, id
