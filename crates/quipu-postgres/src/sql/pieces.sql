SELECT built_from_seq, tag, checksum, bytes FROM quipu.blobs
WHERE user_id = $1 AND fence = $2 AND name = $3 ORDER BY part
