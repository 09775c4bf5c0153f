-- Values as they are stored, without indexes, free space and old versions of rows.
SELECT (
    coalesce((SELECT sum(pg_column_size(t)) FROM quipu.events AS t WHERE user_id = $1 AND fence = $2), 0)
    + coalesce((SELECT sum(pg_column_size(t)) FROM quipu.keys AS t WHERE user_id = $1 AND fence = $2), 0)
    + coalesce((SELECT sum(pg_column_size(bytes) + 100) FROM quipu.changes WHERE user_id = $1 AND fence = $2), 0)
    + coalesce((SELECT sum(pg_column_size(bytes) + 100) FROM quipu.blobs WHERE user_id = $1 AND fence = $2), 0)
    + coalesce((SELECT sum(pg_column_size(bytes) + 100) FROM quipu.vectors WHERE user_id = $1 AND fence = $2), 0)
)::bigint
