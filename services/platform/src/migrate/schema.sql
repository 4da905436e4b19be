-- Makes the schema that one tier writes, and nobody else.
CREATE SCHEMA IF NOT EXISTS {schema};

REVOKE ALL ON SCHEMA {schema} FROM PUBLIC;

GRANT USAGE ON SCHEMA {schema} TO {role};
