UPDATE change SET bytes = ?3, salt = ?4 WHERE seq = ?1 AND idx = ?2 AND erased = 0 AND salt = ?5
