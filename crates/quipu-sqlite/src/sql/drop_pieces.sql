DELETE FROM piece WHERE rowid IN (SELECT rowid FROM piece LIMIT ?1)
