SELECT e.id, c.idx
FROM change AS c INDEXED BY change_erased JOIN event AS e ON e.seq = c.seq
WHERE c.erased = 1
