-- Ends an account and every credential of it; tokens and browser sessions go by their foreign keys. A human or agent
-- that is being added beside it may stay behind as a row, but no look-up of a credential passes a deleted account. That it is to
-- be forgotten stands from then on, as for an agent.
-- Locks: the account, then its humans, agents and their tokens. Served by accounts_pkey, humans_pkey, agents_pkey, leaving_pkey.
WITH gone AS (
    UPDATE directory.accounts
    SET deleted_at = statement_timestamp()
    WHERE account = $1
        AND deleted_at IS NULL
    RETURNING account
), humans_gone AS (
    DELETE FROM directory.humans
    USING gone
    WHERE humans.account = gone.account
), agents_gone AS (
    DELETE FROM directory.agents
    USING gone
    WHERE agents.account = gone.account
), noted AS (
    INSERT INTO directory.audit (account, event, actor, action, target)
    SELECT account, $2, $3, 'account.delete', account
    FROM gone
), leaving AS (
    INSERT INTO directory.leaving (account, agent, due_at)
    SELECT account, '', statement_timestamp() + interval '1 minute'
    FROM gone
    ON CONFLICT (account, agent) DO UPDATE
        SET due_at = excluded.due_at
)
SELECT account
FROM gone
