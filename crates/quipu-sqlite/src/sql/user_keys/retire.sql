UPDATE key SET state = iif(state = 'building', state, 'retired'), retired_by = retired_by || ?2 WHERE user = ?1
