UPDATE key SET state = 'retired', retired_by = ?2 WHERE user = ?1 AND state <> 'building'
