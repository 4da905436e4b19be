-- Lets a tier read and write what its migrations made, and read the list of the migrations themselves.
-- Views of other tiers are granted by their owner's migrations, each by name.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role};

GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role};

DO $$
BEGIN
    IF pg_catalog.to_regclass('{schema}.{history}') IS NOT NULL THEN
        REVOKE INSERT, UPDATE, DELETE ON {schema}.{history} FROM {role};
    END IF;
END
$$;
