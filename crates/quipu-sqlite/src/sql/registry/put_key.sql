INSERT INTO key (id, name, digest, scopes, user, created_at, revoked_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
