UPDATE secret SET master = ?3, wrapped = ?4
WHERE wrapped = ?5 AND place = (SELECT place FROM key WHERE user = ?1 AND id = ?2)
