-- Keys of users, wrapped by a master key. They seal the payloads of ledgers, which may be in another database.

CREATE TABLE quipu_keys.schema_version (
    version integer NOT NULL PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE quipu_keys.user_keys (
    user_id    text   COLLATE "C" NOT NULL,
    id         bytea  NOT NULL CHECK (length(id) = 8),
    state      text   NOT NULL,
    retired_by uuid[] NOT NULL, -- events
    made_at    bigint NOT NULL, -- microseconds since 1970
    master     bytea  NOT NULL CHECK (length(master) = 8), -- name of the master key
    wrapped    bytea  NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE INDEX user_keys_state ON quipu_keys.user_keys (state, user_id) WHERE state <> 'active';

-- As in the schema quipu: a transaction names its user in the setting quipu.user_id.
ALTER TABLE quipu_keys.user_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON quipu_keys.user_keys USING (user_id = current_setting('quipu.user_id', true));
CREATE POLICY list_users ON quipu_keys.user_keys FOR SELECT USING (current_setting('quipu.user_id', true) = '*');
