-- Nothing refers to a piece any more after this, so pieces can go one by one.
DELETE FROM snapshot;
DELETE FROM projection;
