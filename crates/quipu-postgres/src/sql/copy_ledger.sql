-- Copies the events of a ledger that was set aside into an empty one that is being built.
WITH source AS (
    SELECT seq, hash, last_control FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state = 2
), moved AS (
    UPDATE quipu.heads AS h SET seq = source.seq, hash = source.hash, last_control = source.last_control
    FROM source WHERE h.user_id = $1 AND h.fence = $3 AND h.state = 1 AND h.seq = 0
    RETURNING h.fence
), events AS (
    INSERT INTO quipu.events (user_id, fence, seq, id, format, recorded_at, control, header, hash)
    SELECT user_id, $3, seq, id, format, recorded_at, control, header, hash
    FROM quipu.events WHERE user_id = $1 AND fence = $2 AND EXISTS (SELECT 1 FROM moved)
), keys AS (
    INSERT INTO quipu.keys (user_id, fence, key, seq, request)
    SELECT user_id, $3, key, seq, request
    FROM quipu.keys WHERE user_id = $1 AND fence = $2 AND EXISTS (SELECT 1 FROM moved)
), changes AS (
    INSERT INTO quipu.changes (user_id, fence, seq, idx, bytes, salt)
    SELECT user_id, $3, seq, idx, bytes, salt
    FROM quipu.changes WHERE user_id = $1 AND fence = $2 AND EXISTS (SELECT 1 FROM moved)
)
SELECT fence FROM moved
