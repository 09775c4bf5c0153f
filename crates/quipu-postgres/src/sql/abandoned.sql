-- A lease that is released has no row any more.
SELECT leases.user_id, leases.name FROM quipu.leases
JOIN quipu.heads ON heads.user_id = leases.user_id AND heads.fence = leases.fence AND heads.state = 0
WHERE leases.until <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
ORDER BY leases.until LIMIT 100
