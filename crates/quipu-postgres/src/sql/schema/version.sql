SELECT max(version) FROM quipu.schema_version
