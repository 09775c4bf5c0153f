SELECT bytes FROM piece WHERE owner = ?1 ORDER BY part
