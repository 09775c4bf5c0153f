SELECT k.id, k.state, k.retired_by, k.made_at, s.master, s.wrapped
FROM key AS k JOIN secret AS s ON s.place = k.place
WHERE k.user = ?1
ORDER BY k.made_at, k.id
