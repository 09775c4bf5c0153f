SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'quipu_keys'
