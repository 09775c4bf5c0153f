SELECT max(seq) FROM event INDEXED BY event_control WHERE control = 1
