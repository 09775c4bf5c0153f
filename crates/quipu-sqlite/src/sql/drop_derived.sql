-- No WHERE: only a delete of every row makes secure_delete zero the pages whole.
DELETE FROM snapshot;
DELETE FROM projection;
DELETE FROM piece;
DELETE FROM vector;
