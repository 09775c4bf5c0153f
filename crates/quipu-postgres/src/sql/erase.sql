-- As append.sql, and if every target exists: destroys their bytes and salts, and drops everything derived.
WITH target AS (
    SELECT t.seq, t.idx FROM unnest($21::bigint[], $22::integer[]) AS t (seq, idx)
), moved AS (
    UPDATE quipu.heads SET seq = $4, hash = $5, last_control = coalesce($6, last_control)
    WHERE user_id = $1 AND fence = $2 AND seq = $3 AND state <> 2
      AND NOT EXISTS (
          SELECT 1 FROM target WHERE NOT EXISTS (
              SELECT 1 FROM quipu.changes AS c
              WHERE c.user_id = $1 AND c.fence = $2 AND c.seq = target.seq AND c.idx = target.idx
          )
      )
    RETURNING seq
), added AS (
    INSERT INTO quipu.events (user_id, fence, seq, id, format, recorded_at, control, header, hash)
    SELECT $1, $2, e.* FROM moved, unnest($7::bigint[], $8::uuid[], $9::integer[], $10::bigint[], $11::boolean[], $12::bytea[], $13::bytea[]) AS e
), keyed AS (
    INSERT INTO quipu.keys (user_id, fence, key, seq, request)
    SELECT $1, $2, k.* FROM moved, unnest($14::bytea[], $15::bigint[], $16::bytea[]) AS k
), changed AS (
    INSERT INTO quipu.changes (user_id, fence, seq, idx, bytes, salt)
    SELECT $1, $2, c.* FROM moved, unnest($17::bigint[], $18::integer[], $19::bytea[], $20::bytea[]) AS c
), erased AS (
    UPDATE quipu.changes AS c SET bytes = NULL, salt = NULL
    FROM moved, target
    WHERE c.user_id = $1 AND c.fence = $2 AND c.seq = target.seq AND c.idx = target.idx
), blobs AS (
    DELETE FROM quipu.blobs USING moved WHERE user_id = $1 AND fence = $2
), vectors AS (
    DELETE FROM quipu.vectors USING moved WHERE user_id = $1 AND fence = $2
)
SELECT seq FROM moved
