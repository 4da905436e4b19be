-- Schema directory: who there is, and what they authenticate with. Written by the gateway only.
-- Ids sort bytewise, so that pages of a list are the same under every locale.

CREATE TABLE directory.accounts (
    account    text COLLATE "C" PRIMARY KEY CHECK (account ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
    name       text NOT NULL,
    -- The members an owner has set; what is absent is the deployment's.
    policy     jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    -- A deleted account keeps its id: its messages must never come to another one of that name.
    deleted_at timestamptz
);

CREATE TABLE directory.humans (
    account    text COLLATE "C" NOT NULL REFERENCES directory.accounts,
    human      text COLLATE "C" NOT NULL CHECK (human ~ '^[a-z0-9][a-z0-9._-]{0,62}$'),
    email      text,
    role       text NOT NULL CHECK (role IN ('viewer', 'operator', 'owner')),
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (account, human)
);

CREATE TABLE directory.agents (
    account    text COLLATE "C" NOT NULL REFERENCES directory.accounts,
    agent      text COLLATE "C" NOT NULL CHECK (char_length(agent) BETWEEN 1 AND 256),
    labels     jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    PRIMARY KEY (account, agent)
);

CREATE TABLE directory.tokens (
    account    text COLLATE "C" NOT NULL REFERENCES directory.accounts,
    token      text COLLATE "C" NOT NULL,
    -- Whose: one of the two.
    human      text COLLATE "C",
    agent      text COLLATE "C",
    -- SHA-256; the token itself is shown once and kept nowhere.
    token_hash bytea NOT NULL CHECK (octet_length(token_hash) = 32),
    created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    expires_at timestamptz,
    PRIMARY KEY (account, token),
    CHECK (num_nonnulls(human, agent) = 1),
    FOREIGN KEY (account, human) REFERENCES directory.humans ON DELETE CASCADE,
    FOREIGN KEY (account, agent) REFERENCES directory.agents ON DELETE CASCADE
);

-- A caller shows a token and nothing else, so that this one look-up cannot name the account.
CREATE UNIQUE INDEX tokens_by_hash ON directory.tokens (token_hash);
-- For the cascades.
CREATE INDEX tokens_by_human ON directory.tokens (account, human) WHERE human IS NOT NULL;
CREATE INDEX tokens_by_agent ON directory.tokens (account, agent) WHERE agent IS NOT NULL;

CREATE TABLE directory.browser_sessions (
    account      text COLLATE "C" NOT NULL,
    -- SHA-256 of the cookie.
    session_hash bytea NOT NULL CHECK (octet_length(session_hash) = 32),
    human        text COLLATE "C" NOT NULL,
    -- The token it was opened with: it ends with it.
    token        text COLLATE "C" NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT statement_timestamp(),
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (account, session_hash),
    FOREIGN KEY (account, human) REFERENCES directory.humans ON DELETE CASCADE,
    FOREIGN KEY (account, token) REFERENCES directory.tokens ON DELETE CASCADE
);

-- A browser shows its cookie and nothing else.
CREATE UNIQUE INDEX browser_sessions_by_hash ON directory.browser_sessions (session_hash);
-- For the cascades, and for dropping a human's sessions that have run out.
CREATE INDEX browser_sessions_by_human ON directory.browser_sessions (account, human);
CREATE INDEX browser_sessions_by_token ON directory.browser_sessions (account, token);

CREATE TABLE directory.audit (
    account text COLLATE "C" NOT NULL REFERENCES directory.accounts,
    -- Sorts by time.
    event   text COLLATE "C" NOT NULL,
    at      timestamptz NOT NULL DEFAULT statement_timestamp(),
    actor   text NOT NULL,
    action  text NOT NULL,
    target  text NOT NULL,
    detail  jsonb,
    PRIMARY KEY (account, event)
);
