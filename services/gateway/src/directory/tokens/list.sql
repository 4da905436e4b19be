-- A page of an account's tokens, without what would let anybody use them; no row at all: no such account, one row of
-- nulls: no tokens. No locks. Served by accounts_pkey, tokens_pkey.
SELECT token.token,
    token.human,
    token.agent,
    token.created_at,
    token.expires_at
FROM directory.accounts AS account
LEFT JOIN LATERAL (
    SELECT tokens.token, tokens.human, tokens.agent, tokens.created_at, tokens.expires_at
    FROM directory.tokens
    WHERE tokens.account = account.account
        AND tokens.token > $2
    ORDER BY tokens.token
    LIMIT $3
) AS token ON true
WHERE account.account = $1
    AND account.deleted_at IS NULL
ORDER BY token.token
