CREATE SCHEMA quipu_keys
