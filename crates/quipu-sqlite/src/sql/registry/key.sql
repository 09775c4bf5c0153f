SELECT id, name, digest, scopes, user, created_at, revoked_at FROM key WHERE id = ?1
