INSERT INTO key (user, id, state, retired_by, made_at, place) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
