SELECT built_from_seq FROM quipu.blobs
WHERE user_id = $1 AND fence = $2 AND name >= 'snapshot:' AND name < 'snapshot;' AND part = 0
ORDER BY built_from_seq
