-- Until the end of the transaction. The number stands for the migration of a Quipu schema.
SELECT pg_advisory_xact_lock(5861218404311483733)
