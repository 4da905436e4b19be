-- How full the B-trees of the queues are.
SELECT format(
    '%-28s %10s, %s full', stats.indexrelname, pg_size_pretty(pg_relation_size(stats.indexrelid)),
    to_char((pgstatindex(stats.indexrelid::regclass)).avg_leaf_density, 'FM990"%"')
) AS line
FROM pg_stat_user_indexes AS stats
INNER JOIN pg_class AS class ON stats.indexrelid = class.oid
INNER JOIN pg_am AS method ON class.relam = method.oid
INNER JOIN pg_stat_user_tables AS owner ON stats.relid = owner.relid
WHERE stats.schemaname = 'lifecycle' AND method.amname = 'btree' AND owner.n_tup_ins > 0
ORDER BY stats.indexrelname
