DELETE FROM projection WHERE name = ?1
