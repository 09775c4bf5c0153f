SELECT max(version) FROM quipu_keys.schema_version
