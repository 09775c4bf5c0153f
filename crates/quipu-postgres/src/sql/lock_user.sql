-- Until the end of the transaction: a user's ledgers are made, put in place and removed by one transaction after another.
SELECT pg_advisory_xact_lock(hashtextextended($1, 0)) AS user_id
