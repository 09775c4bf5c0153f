DELETE FROM meta WHERE key = ?1
