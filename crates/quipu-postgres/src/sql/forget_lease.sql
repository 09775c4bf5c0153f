DELETE FROM quipu.leases
WHERE user_id = $1 AND name = $2 AND until <= (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
