#!/bin/bash
# Whether what runs in this container is well: the API if it is alive (while the database is away, replacing it helps
# nobody), a worker if it can work. By the shell alone: starting Node for each check would cost more than an idle worker.
asked() {
  local status
  {
    printf 'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' "$2" >&3
    read -r -t 4 _ status _ <&3
  } 3<> "/dev/tcp/127.0.0.1/$1" && [ "$status" = 200 ]
} 2> /dev/null
asked "${API_PORT:-8000}" /livez || asked "${WORKER_METRICS_PORT:-9091}" /readyz
