UPDATE quipu.changes AS c SET bytes = n.bytes, salt = n.salt
FROM unnest($5::bigint[], $6::integer[], $7::bytea[], $8::bytea[], $9::bytea[]) AS n (seq, idx, was, bytes, salt)
WHERE c.user_id = $1 AND c.fence = $2 AND c.seq = n.seq AND c.idx = n.idx AND c.salt = n.was
  AND EXISTS (SELECT 1 FROM quipu.leases AS l WHERE l.user_id = $1 AND l.fence = $2 AND l.name = $3 AND l.holder = $4)
