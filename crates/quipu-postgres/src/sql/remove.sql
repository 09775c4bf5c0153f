-- Every ledger of the user, those set aside and those being built included, if the live one is as expected.
WITH gone AS (
    DELETE FROM quipu.heads WHERE user_id = $1
      AND EXISTS (SELECT 1 FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state = 0 AND ($3::bigint IS NULL OR seq = $3))
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
