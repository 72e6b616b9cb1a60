# The PostgreSQL image runs this file once, when it creates the cluster. The role of the service owns its
# database and has no other privileges.
psql --set ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv password SERVICE_PASSWORD
CREATE ROLE controller LOGIN PASSWORD :'password';
CREATE DATABASE controller OWNER controller;
SQL
