SELECT key, bytes FROM vector ORDER BY key
