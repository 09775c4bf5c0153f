SELECT seq FROM snapshot ORDER BY seq
