-- What belongs to the folder and to no user. Of a key's secret only a hash is here.

CREATE TABLE key (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    digest     BLOB    NOT NULL CHECK (length(digest) = 32),
    scopes     TEXT    NOT NULL, -- words, a blank between two
    user       TEXT,             -- none: all users
    created_at INTEGER NOT NULL, -- microseconds since 1970
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;
