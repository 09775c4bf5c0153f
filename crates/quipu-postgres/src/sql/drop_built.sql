-- A ledger that was not put in place, and those that a process left unfinished at least a day ago.
WITH gone AS (
    DELETE FROM quipu.heads
    WHERE user_id = $1 AND state = 1 AND (fence = $2 OR made_at < now() - interval '1 day')
    RETURNING fence
), events AS (
    DELETE FROM quipu.events WHERE user_id = $1 AND fence IN (SELECT fence FROM gone)
), keys AS (
    DELETE FROM quipu.keys WHERE user_id = $1 AND fence IN (SELECT fence FROM gone)
), changes AS (
    DELETE FROM quipu.changes WHERE user_id = $1 AND fence IN (SELECT fence FROM gone)
), blobs AS (
    DELETE FROM quipu.blobs WHERE user_id = $1 AND fence IN (SELECT fence FROM gone)
), vectors AS (
    DELETE FROM quipu.vectors WHERE user_id = $1 AND fence IN (SELECT fence FROM gone)
), leases AS (
    DELETE FROM quipu.leases WHERE user_id = $1 AND fence IN (SELECT fence FROM gone)
)
SELECT fence FROM gone
