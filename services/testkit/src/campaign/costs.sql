-- What one call of each of the hub's statements costs, by the first line of the comment that it opens with.
SELECT
    ltrim(split_part(statement.query, E'\n', 1), '- ') AS name,
    sum(statement.calls)::bigint AS calls,
    sum(statement.total_exec_time) / sum(statement.calls) AS ms,
    (sum(statement.shared_blks_hit + statement.shared_blks_read) / sum(statement.calls))::float8 AS blocks
FROM pg_stat_statements AS statement
WHERE statement.query LIKE '--%'
GROUP BY 1
HAVING sum(statement.calls) >= $1::bigint
ORDER BY 1
