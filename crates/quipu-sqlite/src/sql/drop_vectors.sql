DELETE FROM vector WHERE rowid IN (SELECT rowid FROM vector LIMIT ?1)
