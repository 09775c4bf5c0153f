SELECT name FROM projection ORDER BY name
