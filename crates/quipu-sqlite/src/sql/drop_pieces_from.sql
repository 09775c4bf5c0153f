DELETE FROM piece WHERE owner = ?1 AND part >= ?2
