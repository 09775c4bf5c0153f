DELETE FROM snapshot WHERE seq = ?1
