-- Keys of users, wrapped by a master key.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The wrapped keys. Rows are never deleted, and all have one size: a destroyed key is overwritten with zeros where it is, and
-- its row is used again. Rows that come and go make SQLite move others between pages, and leave copies of them.
CREATE TABLE secret (
    place   INTEGER NOT NULL PRIMARY KEY,
    is_free INTEGER NOT NULL CHECK (is_free IN (0, 1)),
    master  BLOB    NOT NULL CHECK (length(master) = 8), -- name of the master key
    wrapped BLOB    NOT NULL CHECK (length(wrapped) = 72)
) STRICT;

CREATE INDEX secret_free ON secret (place) WHERE is_free = 1;

CREATE TABLE key (
    user       TEXT    NOT NULL,
    id         BLOB    NOT NULL CHECK (length(id) = 8),
    state      TEXT    NOT NULL,
    retired_by TEXT    NOT NULL CHECK (length(retired_by) % 32 = 0), -- events, 32 hexadecimal digits each
    made_at    INTEGER NOT NULL, -- microseconds since 1970
    place      INTEGER NOT NULL UNIQUE REFERENCES secret (place),
    PRIMARY KEY (user, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX key_state ON key (state, user) WHERE state <> 'active';
