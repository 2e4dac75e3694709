"""A worker in Python's standard library: worker.py URL QUEUE WORKER_ID. Prints what worker.sh prints."""
import json, sys, time, urllib.error, urllib.request, uuid

URL, QUEUE, WORKER = sys.argv[1:]
LEASE_SECONDS = 5


def post(path, body, timeout):
    """The status and the JSON of the response; None when none came in time."""
    request = urllib.request.Request(
        URL + path, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, None
    except (OSError, ValueError):
        return None


def until_answered(path, body, timeout):
    while True:
        answer = post(path, body, timeout)
        if answer is not None and answer[0] < 500:
            return answer
        time.sleep(0.1)


def say(what, id):
    print(what, id, int(time.time() * 1000), flush=True)


def lease(token):
    """What is leased, and when that ends by the clock of this machine."""
    body = {"worker_id": WORKER, "lease_seconds": LEASE_SECONDS, "wait_seconds": 1, "lease_token": token}
    while True:
        sent_at = time.monotonic()
        answer = post(f"/v1/queues/{QUEUE}/lease", body, 2.7)
        if answer is not None and answer[0] == 200:
            return answer[1]["jobs"], sent_at + (answer[1]["waited_ms"] + answer[1]["remaining_ms"]) / 1000
        time.sleep(0.1)


while True:
    token = str(uuid.uuid4())
    jobs, ends_at = lease(token)
    for held in jobs:
        id, left = held["job"]["id"], ends_at - time.monotonic()
        if left < LEASE_SECONDS / 2:
            beat = {"lease_token": token, "lease_seconds": LEASE_SECONDS}
            if left <= 0 or (post(f"/v1/jobs/{id}/heartbeat", beat, left) or (0,))[0] != 200:
                continue
        say("start", id)
        time.sleep(0.1)
        say("end", id)
        until_answered(f"/v1/jobs/{id}/ack", {"lease_token": token}, 1.5)
