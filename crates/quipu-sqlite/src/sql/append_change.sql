INSERT INTO change (seq, idx, erased, bytes, salt) VALUES (?1, ?2, ?3, ?4, ?5)
