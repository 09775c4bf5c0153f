-- Compare-and-set on the head; if it fails, nothing is inserted and no row comes back. For events of which some have keys.
WITH moved AS (
    UPDATE quipu.heads SET seq = $4, hash = $5, last_control = coalesce($6, last_control)
    WHERE user_id = $1 AND fence = $2 AND seq = $3 AND state <> 2
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
)
SELECT seq FROM moved
