DROP SCHEMA IF EXISTS quipu_bench CASCADE;
CREATE SCHEMA quipu_bench;
CREATE TABLE quipu_bench.heads (id integer PRIMARY KEY, seq bigint NOT NULL);
CREATE TABLE quipu_bench.rows (seq bigint PRIMARY KEY, bytes bytea NOT NULL);
INSERT INTO quipu_bench.heads VALUES (1, 0);
