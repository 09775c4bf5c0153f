-- Whether the holder has the lease, which another cannot take before this transaction ends.
SELECT 1 FROM quipu.leases WHERE user_id = $1 AND fence = $2 AND name = $3 AND holder = $4 FOR UPDATE
