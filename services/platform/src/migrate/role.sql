-- Creates the role a tier acts as, and lets the migrating user act as it.
-- Roles are shared by the databases of a cluster, so another migration may be a moment ahead: that is fine.
-- From version 16 on membership alone does not allow to act as a role.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = '{role}') THEN
        CREATE ROLE {role} NOLOGIN NOINHERIT;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
        NULL;
END
$$;

DO $$
DECLARE
    needed text := CASE
        WHEN pg_catalog.current_setting('server_version_num')::integer >= 160000 THEN 'SET'
        ELSE 'MEMBER'
    END;
BEGIN
    IF NOT pg_catalog.pg_has_role(CURRENT_USER, '{role}', needed) THEN
        GRANT {role} TO CURRENT_USER;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
        NULL;
END
$$;
