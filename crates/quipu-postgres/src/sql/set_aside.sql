-- What was derived from it is dropped: it can be rebuilt.
WITH replaced AS (
    UPDATE quipu.heads SET state = 2
    WHERE user_id = $1 AND state = 0 AND $3
      AND EXISTS (SELECT 1 FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state = 1)
    RETURNING fence
), blobs AS (
    DELETE FROM quipu.blobs WHERE user_id = $1 AND fence IN (SELECT fence FROM replaced)
), vectors AS (
    DELETE FROM quipu.vectors WHERE user_id = $1 AND fence IN (SELECT fence FROM replaced)
), leases AS (
    DELETE FROM quipu.leases WHERE user_id = $1 AND fence IN (SELECT fence FROM replaced)
)
SELECT fence FROM replaced
