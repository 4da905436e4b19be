-- Opens every submit: charges the agent's rate budget, before anything else is looked at (§8.6, design rule 4).
--
-- Decides: which budget a submit is charged to, an addressed one ($4) to one of its own where the deployment or the
-- account sets that, and how much there is a minute: the account's limit beneath the deployment's ($5, $6; null and 0
-- for none). A call made again under its message's id has been charged already. A budget begins anew with the first
-- charge after its minute.
--
-- Locks: the budget, which is taken before anything else and by nothing but submits of this agent.
-- Indexes: the primary keys of budgets, messages and directory.accounts.
WITH account AS (
    SELECT
        known.requests_per_minute,
        known.inbox_depth,
        $6::bigint IS NOT NULL OR known.inter_agent_requests_per_minute IS NOT NULL AS addressed_apart,
        least(nullif(known.inter_agent_requests_per_minute, 0), nullif($6::bigint, 0)) AS addressed_per_minute
    FROM (VALUES ($1)) AS asked (account)
    LEFT JOIN directory.accounts_v1 AS known ON asked.account = known.account
),

allowance AS MATERIALIZED (
    SELECT
        account.addressed_apart,
        account.inbox_depth,
        account.addressed_apart AND $4::boolean AS is_apart,
        CASE
            WHEN account.addressed_apart AND $4::boolean THEN account.addressed_per_minute
            ELSE least(nullif(account.requests_per_minute, 0), nullif($5::bigint, 0))
        END AS per_minute
    FROM account
),

charge AS (
    INSERT INTO lifecycle.budgets AS budget (account, agent, scope, resets_at, spent)
    SELECT
        $1, $3, CASE WHEN allowance.is_apart THEN 'addressed' ELSE 'common' END,
        statement_timestamp() + interval '1 minute', 1
    FROM allowance
    WHERE
        allowance.per_minute IS NOT NULL
        AND NOT EXISTS (
            SELECT 1
            FROM lifecycle.messages AS message
            WHERE message.account = $1 AND message.message_id = $2
        )
    ON CONFLICT (account, agent, scope) DO UPDATE
        SET
            resets_at = CASE
                WHEN budget.resets_at <= statement_timestamp() THEN excluded.resets_at
                ELSE budget.resets_at
            END,
            spent = CASE WHEN budget.resets_at <= statement_timestamp() THEN 1 ELSE budget.spent + 1 END
    RETURNING spent, resets_at
),

budget AS MATERIALIZED (
    SELECT
        allowance.inbox_depth,
        coalesce(charge.spent <= allowance.per_minute, true) AS affordable,
        NOT (allowance.addressed_apart AND $4::boolean) AS refuses_unaddressed,
        NOT allowance.addressed_apart OR $4::boolean AS refuses_addressed,
        (extract(EPOCH FROM charge.resets_at - statement_timestamp()) * 1000)::bigint AS resets_in_ms
    FROM allowance
    LEFT JOIN charge ON true
)
