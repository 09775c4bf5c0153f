-- Null for a database without the schema; -1 for a schema of this name that is not Quipu's.
SELECT CASE
    WHEN to_regnamespace('quipu_keys') IS NULL THEN NULL
    WHEN to_regclass('quipu_keys.schema_version') IS NULL
         AND NOT EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace('quipu_keys')) THEN 0
    WHEN to_regclass('quipu_keys.schema_version') IS NULL OR to_regclass('quipu_keys.user_keys') IS NULL THEN -1
    ELSE 1
END
