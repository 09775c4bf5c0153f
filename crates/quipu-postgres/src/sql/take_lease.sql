-- By the clock of the database, which all callers share. $5 is the duration in microseconds.
INSERT INTO quipu.leases AS held (user_id, fence, name, holder, until)
SELECT $1, $2, $3, $4, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $5
WHERE EXISTS (SELECT 1 FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state <> 2)
ON CONFLICT (user_id, fence, name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE held.holder = excluded.holder OR held.until <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
RETURNING held.holder
