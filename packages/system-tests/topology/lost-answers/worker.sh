#!/bin/sh
# A worker in curl and sed: worker.sh URL QUEUE WORKER_ID. Prints "start <job>" and "end <job>" with the time in ms.
URL=$1 QUEUE=$2 WORKER=$3
LEASE_SECONDS=5
now() { date +%s%3N; }
text() { printf '%s' "$LEASE" | sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'; }
number() { printf '%s' "$LEASE" | sed -n 's/.*"'"$1"'":\([0-9]*\).*/\1/p'; }
post() {
  TO=$1 WITHIN_S=$2 BODY=$3
  shift 3
  [ $# -gt 0 ] || set -- -f
  curl -sS "$URL$TO" -H 'Content-Type: application/json' --max-time "$WITHIN_S" -d "$BODY" "$@" 2> /dev/null
}

while :; do
  TOKEN=$(cat /proc/sys/kernel/random/uuid)
  ASKED="{\"worker_id\":\"$WORKER\",\"lease_seconds\":$LEASE_SECONDS,\"wait_seconds\":1,\"lease_token\":\"$TOKEN\"}"
  # Repeated unchanged until a response comes, for what it waits and a third of the lease.
  while SENT=$(now) && ! LEASE=$(post "/v1/queues/$QUEUE/lease" 2.7 "$ASKED"); do sleep 0.1; done
  ID=$(printf '%s' "$LEASE" | sed -n 's/.*"job":{"id":"\([^"]*\)".*/\1/p')
  [ -n "$ID" ] || continue
  LEFT=$((SENT + $(number waited_ms) + $(number remaining_ms) - $(now)))
  if [ "$LEFT" -lt $((LEASE_SECONDS * 500)) ]; then
    # Late. What it still has is the time for a heartbeat, without which the job is another worker's.
    [ "$LEFT" -gt 0 ] || continue
    WITHIN=$((LEFT / 1000)).$(printf '%03d' $((LEFT % 1000)))
    post "/v1/jobs/$ID/heartbeat" "$WITHIN" "{\"lease_token\":\"$TOKEN\",\"lease_seconds\":$LEASE_SECONDS}" > /dev/null || continue
  fi
  echo "start $ID $(now)"
  sleep 0.1
  echo "end $ID $(now)"
  # An answer, whatever it is, ends the repetitions: 409 says that the job is another worker's.
  while CODE=$(post "/v1/jobs/$ID/ack" 1.5 "{\"lease_token\":\"$TOKEN\"}" -o/dev/null -w'%{http_code}'); [ "${CODE:-000}" -lt 200 ] || [ "$CODE" -ge 500 ]; do
    sleep 0.1
  done
done
