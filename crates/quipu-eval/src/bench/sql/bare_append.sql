WITH moved AS (
    UPDATE quipu_bench.heads SET seq = $1 + 1 WHERE id = 1 AND seq = $1 RETURNING seq
)
INSERT INTO quipu_bench.rows (seq, bytes) SELECT seq, $2 FROM moved RETURNING seq
