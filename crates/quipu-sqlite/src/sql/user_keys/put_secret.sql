INSERT INTO secret (place, is_free, master, wrapped)
VALUES (coalesce((SELECT min(place) FROM secret WHERE is_free = 1), (SELECT coalesce(max(place), 0) + 1 FROM secret)), 0, ?1, ?2)
ON CONFLICT (place) DO UPDATE SET is_free = 0, master = excluded.master, wrapped = excluded.wrapped
RETURNING place
