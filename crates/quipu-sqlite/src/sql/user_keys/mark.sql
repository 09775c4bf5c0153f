UPDATE key SET state = ?3 WHERE user = ?1 AND id = ?2
