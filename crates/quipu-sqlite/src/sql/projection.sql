SELECT seq, tag, length FROM projection WHERE name = ?1
