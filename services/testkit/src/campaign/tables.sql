-- How the tables of the queues are.
SELECT
    format(
        '%-22s %8s live %8s dead, %s of updates hot, %s vacuums, %s',
        stats.relname, stats.n_live_tup, stats.n_dead_tup,
        to_char(100.0 * stats.n_tup_hot_upd / nullif(stats.n_tup_upd, 0), 'FM990"%"'), stats.autovacuum_count,
        pg_size_pretty(pg_total_relation_size(stats.relid))
    ) AS line
FROM pg_stat_user_tables AS stats
WHERE stats.schemaname = 'lifecycle' AND stats.n_tup_ins > 0
ORDER BY stats.relname
