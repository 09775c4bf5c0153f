-- One user's ledger and what was derived from it. See docs/format.md for the bytes inside the blobs.

CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Truth. Rows are never updated.
CREATE TABLE event (
    seq             INTEGER NOT NULL PRIMARY KEY CHECK (seq > 0),
    id              BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    format          INTEGER NOT NULL,
    recorded_at     INTEGER NOT NULL, -- microseconds since 1970
    control         INTEGER NOT NULL CHECK (control IN (0, 1)),
    idempotency_key TEXT UNIQUE,
    request         BLOB CHECK ((request IS NULL) = (idempotency_key IS NULL)),
    header          BLOB    NOT NULL,
    hash            BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE INDEX event_recorded_at ON event (recorded_at);
CREATE INDEX event_control ON event (control) WHERE control = 1;

-- Truth. `place` only grows, so a row never moves to another page, and erasing overwrites a row with zeros of the same
-- length, so it never makes its neighbours move. Rows that come and go make SQLite move others between pages, and where
-- they were it leaves copies that neither secure_delete nor a later erasure reaches (seen in 35 of 150 databases after
-- deleting rows of 1 kB in random order).
CREATE TABLE change (
    place  INTEGER NOT NULL PRIMARY KEY,
    seq    INTEGER NOT NULL REFERENCES event (seq),
    idx    INTEGER NOT NULL CHECK (idx >= 0),
    erased INTEGER NOT NULL CHECK (erased IN (0, 1)),
    bytes  BLOB,
    salt   BLOB CHECK (length(salt) = 32),
    UNIQUE (seq, idx)
) STRICT;

CREATE INDEX change_erased ON change (seq, idx) WHERE erased = 1;

-- Rebuildable, all below. An erasure empties these tables whole, which zeroes each of their pages.
CREATE TABLE snapshot (
    seq    INTEGER NOT NULL PRIMARY KEY,
    length INTEGER NOT NULL
) STRICT;

CREATE TABLE projection (
    name   TEXT    NOT NULL PRIMARY KEY,
    seq    INTEGER NOT NULL,
    tag    TEXT    NOT NULL,
    length INTEGER NOT NULL
) STRICT;

-- Large blobs in bounded pieces: a full disk can then be cleaned piece by piece, and replacing a blob overwrites the
-- pieces in place.
CREATE TABLE piece (
    owner TEXT    NOT NULL,
    part  INTEGER NOT NULL,
    bytes BLOB    NOT NULL,
    UNIQUE (owner, part)
) STRICT;

CREATE TABLE vector (
    key   BLOB NOT NULL PRIMARY KEY CHECK (length(key) = 16),
    bytes BLOB NOT NULL
) STRICT;
