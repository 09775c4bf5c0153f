INSERT INTO quipu.schema_version (version) VALUES ($1)
