SELECT 1 FROM change WHERE seq = ?1 AND idx = ?2
