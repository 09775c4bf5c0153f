DELETE FROM key WHERE user = ?1 AND id = ?2
