-- Same length, so that SQLite overwrites the row where it is.
UPDATE secret SET is_free = 1, master = zeroblob(8), wrapped = zeroblob(72)
WHERE place = (SELECT place FROM key WHERE user = ?1 AND id = ?2)
