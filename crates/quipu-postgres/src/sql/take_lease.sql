INSERT INTO quipu.leases AS held (user_id, fence, name, holder, until)
SELECT $1, $2, $3, $4, $5
WHERE EXISTS (SELECT 1 FROM quipu.heads WHERE user_id = $1 AND fence = $2 AND state <> 2)
ON CONFLICT (user_id, fence, name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE held.holder = excluded.holder OR held.until <= $6
RETURNING held.holder
