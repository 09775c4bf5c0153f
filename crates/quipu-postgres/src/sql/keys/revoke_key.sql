UPDATE quipu.api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1
RETURNING id, name, digest, scopes, user_id, created_at, revoked_at
