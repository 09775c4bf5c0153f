INSERT INTO event (seq, id, format, recorded_at, control, idempotency_key, request, header, hash)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
