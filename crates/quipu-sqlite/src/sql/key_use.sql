SELECT seq, request FROM event WHERE idempotency_key = ?1
