-- As append.sql, for events without keys: one table less to plan for.
WITH moved AS (
    UPDATE quipu.heads SET seq = $4, hash = $5, last_control = coalesce($6, last_control)
    WHERE user_id = $1 AND fence = $2 AND seq = $3 AND state <> 2
    RETURNING seq
), added AS (
    INSERT INTO quipu.events (user_id, fence, seq, id, format, recorded_at, control, header, hash)
    SELECT $1, $2, e.* FROM moved, unnest($7::bigint[], $8::uuid[], $9::integer[], $10::bigint[], $11::boolean[], $12::bytea[], $13::bytea[]) AS e
), changed AS (
    INSERT INTO quipu.changes (user_id, fence, seq, idx, bytes, salt)
    SELECT $1, $2, c.* FROM moved, unnest($14::bigint[], $15::integer[], $16::bytea[], $17::bytea[]) AS c
)
SELECT seq FROM moved
