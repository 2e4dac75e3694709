#!/usr/bin/env bash
# Writes what is this installation's own, the server's address and the password, and becomes PgBouncer.
set -euo pipefail
umask 077
printf '"atlasqueue" "%s"\n' "${POSTGRES_PASSWORD:?must be set}" > /tmp/userlist.txt
{
  cat << 'SETTINGS'
[databases]
atlasqueue = host=postgres port=5432 dbname=atlasqueue

[pgbouncer]
listen_addr = *
listen_port = 6432
auth_type = scram-sha-256
auth_file = /tmp/userlist.txt
admin_users = atlasqueue
unix_socket_dir = /tmp
SETTINGS
  sed -n '/^; pooling$/,$p' /etc/pgbouncer/pooling.ini
} > /tmp/pgbouncer.ini
exec pgbouncer -q /tmp/pgbouncer.ini
