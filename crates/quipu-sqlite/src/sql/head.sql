SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1
