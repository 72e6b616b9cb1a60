# Read once by the image of PostgreSQL, when it makes its cluster: the service's role owns its database
# and may do nothing beside it.
psql --set ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv password SERVICE_PASSWORD
CREATE ROLE controller LOGIN PASSWORD :'password';
CREATE DATABASE controller OWNER controller;
SQL
