SELECT max(seq) FROM event WHERE recorded_at <= ?1
