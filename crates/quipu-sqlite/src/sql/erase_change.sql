-- Same length, so that SQLite overwrites the row where it is. A missing value stays missing.
UPDATE change
SET erased = 1,
    bytes = CASE WHEN bytes IS NULL THEN NULL ELSE zeroblob(length(bytes)) END,
    salt  = CASE WHEN salt  IS NULL THEN NULL ELSE zeroblob(length(salt)) END
WHERE seq = ?1 AND idx = ?2 AND erased = 0
