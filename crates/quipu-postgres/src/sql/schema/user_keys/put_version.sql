INSERT INTO quipu_keys.schema_version (version) VALUES ($1)
