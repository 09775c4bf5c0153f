-- The servers that share the database, with their last heartbeat. If the tables are distributed:
--     SELECT create_reference_table('quipu.servers');
CREATE TABLE quipu.servers (
    id         text COLLATE "C" NOT NULL PRIMARY KEY, -- random, one for each start
    name       text NOT NULL,
    version    text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE quipu.servers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY whole_store ON quipu.servers USING (current_setting('quipu.user_id', true) = '*');

-- Servers look for work that another one left behind. They take it over user by user, with the rights of that user.
CREATE POLICY list_leases ON quipu.leases FOR SELECT USING (current_setting('quipu.user_id', true) = '*');
