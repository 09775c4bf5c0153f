UPDATE key SET state = iif(?3 = 'active' AND retired_by <> '', 'retired', ?3) WHERE user = ?1 AND id = ?2
