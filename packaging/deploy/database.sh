#!/bin/sh
# Creates the role and the database of Quipu, as the superuser of a PostgreSQL server (15 or later). The arguments are those
# of psql.
set -eu
: "${QUIPU_DATABASE_PASSWORD:?the password of the role quipu}"
psql --no-psqlrc --set ON_ERROR_STOP=1 "$@" <<'SQL'
\getenv password QUIPU_DATABASE_PASSWORD
-- No superuser: row-level security is a second lock between users, and does not bind a superuser.
CREATE ROLE quipu LOGIN PASSWORD :'password';
CREATE DATABASE quipu OWNER quipu;
SQL
