DELETE FROM quipu.servers WHERE id = $1
