-- The ledgers of all users, and what was derived from them. See docs/format.md for the bytes inside the values.
--
-- The key of every table starts with user_id, which is also the distribution column if the tables are distributed:
--     SELECT create_distributed_table('quipu.heads', 'user_id');  -- and so on for the other partitioned tables
--     SELECT create_reference_table('quipu.api_keys');
-- No user needs a statement that defines tables. Within a user, `fence` tells a ledger from an earlier or later one.

CREATE TABLE quipu.schema_version (
    version integer NOT NULL PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- One row for each ledger: the live one (state 0), those that are being built (1), and those set aside (2).
CREATE TABLE quipu.heads (
    user_id      text    COLLATE "C" NOT NULL,
    fence        uuid    NOT NULL,
    state        integer NOT NULL CHECK (state IN (0, 1, 2)),
    seq          bigint  NOT NULL CHECK (seq >= 0),
    hash         bytea   NOT NULL CHECK (length(hash) = 32),
    last_control bigint  NOT NULL DEFAULT 0, -- position of the newest control event
    made_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, fence)
) PARTITION BY HASH (user_id);

CREATE UNIQUE INDEX heads_live ON quipu.heads (user_id) WHERE state = 0;

-- Truth. Rows are never updated.
CREATE TABLE quipu.events (
    user_id     text    COLLATE "C" NOT NULL,
    fence       uuid    NOT NULL,
    seq         bigint  NOT NULL CHECK (seq > 0),
    id          uuid    NOT NULL,
    format      integer NOT NULL,
    recorded_at bigint  NOT NULL, -- microseconds since 1970
    control     boolean NOT NULL,
    header      bytea   NOT NULL,
    hash        bytea   NOT NULL CHECK (length(hash) = 32),
    PRIMARY KEY (user_id, fence, seq),
    UNIQUE (user_id, fence, id)
) PARTITION BY HASH (user_id);

CREATE INDEX events_recorded_at ON quipu.events (user_id, fence, recorded_at, seq);
CREATE INDEX events_control ON quipu.events (user_id, fence, seq) WHERE control;

-- Idempotency keys. As bytes, since a text of PostgreSQL cannot hold every string.
CREATE TABLE quipu.keys (
    user_id text   COLLATE "C" NOT NULL,
    fence   uuid   NOT NULL,
    key     bytea  NOT NULL,
    seq     bigint NOT NULL,
    request bytea  NOT NULL CHECK (length(request) = 32),
    PRIMARY KEY (user_id, fence, key),
    UNIQUE (user_id, fence, seq)
) PARTITION BY HASH (user_id);

-- Truth. An erasure sets bytes and salt to null.
CREATE TABLE quipu.changes (
    user_id text    COLLATE "C" NOT NULL,
    fence   uuid    NOT NULL,
    seq     bigint  NOT NULL,
    idx     integer NOT NULL CHECK (idx >= 0),
    bytes   bytea,
    salt    bytea CHECK (length(salt) = 32),
    PRIMARY KEY (user_id, fence, seq, idx)
) PARTITION BY HASH (user_id);

CREATE INDEX changes_erased ON quipu.changes (user_id, fence, seq, idx) WHERE bytes IS NULL AND salt IS NULL;

-- Rebuildable: snapshots and projections, in pieces of a bounded size.
CREATE TABLE quipu.blobs (
    user_id        text    COLLATE "C" NOT NULL,
    fence          uuid    NOT NULL,
    name           text    COLLATE "C" NOT NULL,
    part           integer NOT NULL CHECK (part >= 0),
    built_from_seq bigint  NOT NULL,
    tag            text    NOT NULL,
    checksum       bytea   NOT NULL,
    bytes          bytea   NOT NULL,
    PRIMARY KEY (user_id, fence, name, part)
) PARTITION BY HASH (user_id);

-- Rebuildable: single vectors, until a projection contains them.
CREATE TABLE quipu.vectors (
    user_id text  COLLATE "C" NOT NULL,
    fence   uuid  NOT NULL,
    key     bytea NOT NULL CHECK (length(key) = 16),
    tag     text  NOT NULL,
    bytes   bytea NOT NULL,
    PRIMARY KEY (user_id, fence, key)
) PARTITION BY HASH (user_id);

CREATE TABLE quipu.leases (
    user_id text   COLLATE "C" NOT NULL,
    fence   uuid   NOT NULL,
    name    text   COLLATE "C" NOT NULL,
    holder  bigint NOT NULL,
    until   bigint NOT NULL, -- microseconds since 1970
    PRIMARY KEY (user_id, fence, name)
) PARTITION BY HASH (user_id);

-- Payloads and vectors hardly compress, and are read whole.
ALTER TABLE quipu.blobs ALTER COLUMN bytes SET STORAGE EXTERNAL;
ALTER TABLE quipu.vectors ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Access keys of the whole store. Of a key's secret only a hash is here.
CREATE TABLE quipu.api_keys (
    id         text   COLLATE "C" NOT NULL PRIMARY KEY,
    name       text   NOT NULL,
    digest     bytea  NOT NULL CHECK (length(digest) = 32),
    scopes     text   NOT NULL, -- words, a blank between two
    user_id    text,            -- null: all users
    created_at bigint NOT NULL, -- microseconds since 1970
    revoked_at bigint
);

-- A transaction names its user in the setting quipu.user_id, and sees and writes the rows of that user only, whatever its
-- statements ask for. The name '*', which no user can have, stands for the statements of the whole store: they list users
-- and use access keys. Partitions have no policy of their own, so they cannot be read past the tables they belong to.
DO $$
DECLARE
    whole text;
    part integer;
BEGIN
    FOREACH whole IN ARRAY ARRAY['heads', 'events', 'keys', 'changes', 'blobs', 'vectors', 'leases'] LOOP
        EXECUTE format('ALTER TABLE quipu.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', whole);
        EXECUTE format('CREATE POLICY own_rows ON quipu.%I USING (user_id = current_setting(''quipu.user_id'', true))', whole);
        FOR part IN 0..63 LOOP
            EXECUTE format(
                'CREATE TABLE quipu.%I PARTITION OF quipu.%I FOR VALUES WITH (MODULUS 64, REMAINDER %s)%s',
                whole || '_' || lpad(part::text, 2, '0'), whole, part,
                -- Room for new versions of a row beside the old one.
                CASE whole WHEN 'heads' THEN ' WITH (fillfactor = 50)' ELSE '' END
            );
            EXECUTE format(
                'ALTER TABLE quipu.%I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY',
                whole || '_' || lpad(part::text, 2, '0')
            );
        END LOOP;
    END LOOP;
END
$$;

CREATE POLICY list_users ON quipu.heads FOR SELECT USING (current_setting('quipu.user_id', true) = '*');

ALTER TABLE quipu.api_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY whole_store ON quipu.api_keys USING (current_setting('quipu.user_id', true) = '*');
