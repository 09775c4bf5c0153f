-- Repeats every erasure of the ledger in those of the user that were set aside or are being built. The first condition ends it
-- at once if there are none.
UPDATE quipu.changes AS c SET bytes = NULL, salt = NULL
FROM quipu.heads AS h, quipu.events AS e
WHERE EXISTS (SELECT 1 FROM quipu.heads WHERE user_id = $1 AND state <> 0 AND fence <> $2)
  AND h.user_id = $1 AND h.state <> 0 AND h.fence <> $2
  AND e.user_id = $1 AND e.fence = h.fence
  AND c.user_id = $1 AND c.fence = e.fence AND c.seq = e.seq AND (c.bytes IS NOT NULL OR c.salt IS NOT NULL)
  AND EXISTS (
      SELECT 1 FROM quipu.events AS e2, quipu.changes AS c2
      WHERE e2.user_id = $1 AND e2.fence = $2 AND e2.id = e.id
        AND c2.user_id = $1 AND c2.fence = $2 AND c2.seq = e2.seq AND c2.idx = c.idx
        AND c2.bytes IS NULL AND c2.salt IS NULL
  )
