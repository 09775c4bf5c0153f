SELECT length FROM snapshot WHERE seq = ?1
