-- Until the end of the transaction nobody else can take the lease.
SELECT holder FROM quipu.leases WHERE user_id = $1 AND fence = $2 AND name = $3 AND holder = $4 FOR SHARE
