SELECT seq FROM event WHERE id = ?1
