SELECT id, name, digest, scopes, user, created_at, revoked_at FROM key ORDER BY created_at, id
