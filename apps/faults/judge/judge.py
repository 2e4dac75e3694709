"""A second opinion about a run of `pnpm faults`. It shares no code with the checker in src/check.

    python3 judge.py operations.jsonl

Prints what breaks a promise with the operations that show it, and exits with 1; with 2 if the file is no history.
Each line is an operation as Jepsen writes them, in JSON: process, type (invoke, ok, fail, info), f, value, time in ns.

- lost: each acknowledged job is there at the end, and each job has ended or waits for a stated reason
- from nowhere: each job was enqueued, once, by a call that may have succeeded
- order: a job of a group starts after the end of all that were acknowledged before it was enqueued
- leases: a job, and a group, has one live lease at a time, which only its own attempt, its end or people take away
"""

import bisect
import json
import math
import sys
from collections import defaultdict
from types import SimpleNamespace

CLOCKS_NS = 50_000_000  # A program's clock and the database's may be so far apart.
SHOWN_MAX = 10
ENDED = {"succeeded", "dead", "cancelled"}
PLACED_LATER = {"spawn", "transaction"}  # In their group, at their parent's end or with a caller's commit.


def new_job():
    times = {"started": (math.inf, None), "ended": (math.inf, None)}
    return SimpleNamespace(stored=None, nonce=None, group=None, left=None, removed=False,
                           held=None, leases=[], tokens=set(), runs=[], **times)


class Judge:
    def __init__(self):
        self.objections = defaultdict(list)
        self.jobs = defaultdict(new_job)
        self.pending = {}  # By process, what it is doing.
        self.calls = defaultdict(list)  # By nonce, the calls that enqueue it.
        self.scheduled = set()
        self.holders = {}  # By group, the job that is leased.
        self.places = defaultdict(list)  # By group: (acknowledged, invoked, job, line).

    def object(self, rule, text, *lines):
        self.objections[rule].append((text, {line for line in lines if line}))

    def take(self, line, op):
        process, kind, f, value, time = (op[key] for key in ("process", "type", "f", "value", "time"))
        if process == "database":
            act = self.left if f == "left" else self.moved
            act(self.jobs[value["job"]], value["job"], f, value, time, line)
        elif f == "schedule":
            self.scheduled.add(value["name"])
        elif f in ("enqueue", "attempt") and kind == "invoke":
            begin = self.enqueue if f == "enqueue" else self.attempt
            self.pending[process] = begin(value, time, line)
        elif f in ("enqueue", "attempt"):
            begun = self.pending.pop(process)
            begun.kind, begun.end, begun.value = kind, time, value
            if f == "enqueue":
                self.place(begun)

    def enqueue(self, value, time, line):
        call = SimpleNamespace(value=value, begun=time, end=math.inf, kind="info", line=line)
        self.calls[value["nonce"]].append(call)
        return call

    def place(self, call):
        value = call.value
        late = value["via"] in PLACED_LATER or value["kind"] == "flow" or "row" in value or "unique" in value
        if call.kind == "ok" and "group" in value and value.get("created") and not late:
            group = (value["tenant"], value["queue"], value["group"])
            self.places[group].append((call.end, call.begun, value["job"], call.line))

    def attempt(self, value, time, line):
        job = self.jobs[value["job"]]
        run = SimpleNamespace(value=value, begun=time, end=math.inf, line=line)
        job.runs.append(run)
        job.started = min(job.started, (time + CLOCKS_NS, line))
        return run

    def left(self, job, _name, _f, value, _time, line):
        job.left = SimpleNamespace(status=value["status"], why=value.get("why"), line=line)

    def moved(self, job, name, f, value, time, line):
        if f == "stored":
            job.stored, job.nonce = line, value.get("nonce")
            job.group = (value["tenant"], value["queue"], value["group"]) if "group" in value else None
        elif f == "leased":
            self.leased(job, name, value, time, line)
        elif value["was"] == "running" and job.held:
            self.unleased(job, name, f, value, time, line)
        if f == "removed" or value.get("status") in ENDED:
            job.removed = job.removed or f == "removed"
            job.ended = min(job.ended, (time, line))

    def leased(self, job, name, value, time, line):
        token, holder = value.get("token"), self.holders.get(job.group)
        if job.held:
            self.object("leases", f"{name} was leased while it was held", job.held.line, line)
        if token is None or token in job.tokens:
            self.object("leases", f"{name} was leased without a token of its own", line)
        if holder not in (None, name):
            self.object("leases", f"{name} was leased while {holder} of its group was", line)
        if job.group:
            self.holders[job.group] = name
        job.held = SimpleNamespace(value=value, begun=time, end=math.inf, line=line)
        job.leases.append(job.held)
        job.tokens.add(token)
        job.started = min(job.started, (time, line))

    def unleased(self, job, name, f, value, time, line):
        lease, job.held = job.held, None
        lease.end = time
        if self.holders.get(job.group) == name:
            del self.holders[job.group]
        attempt, by = lease.value["attempts"], value.get("done_by_attempt")
        recovered = f == "recovered" or (f == "requeued" and value["attempts"] >= attempt)
        if recovered and (left_ms := value.get("lease_left_ms", 0)) > 0:
            self.object("leases", f"{name} was recovered {left_ms:.1f} ms before its lease ended", lease.line, line)
        if f == "completed" and by not in (None, attempt):
            self.object("leases", f"attempt {by} completed {name}, leased to attempt {attempt}", lease.line, line)

    def conclude(self):
        known = {job.nonce: job for job in self.jobs.values() if job.stored}
        for nonce, calls in self.calls.items():
            for call in calls:
                job = self.jobs.get(call.value.get("job")) or known.get(nonce)
                if call.kind == "ok" and not (job and (job.left or job.removed)):
                    self.object("lost", f"{nonce} was acknowledged and is not there", call.line, job and job.stored)
        nonces = {}
        for name, job in self.jobs.items():
            self.came(name, job, nonces)
            if job.left and job.left.status not in ENDED and not job.left.why:
                self.object("lost", f"{name} is {job.left.status} at the end for no reason", job.stored, job.left.line)
            self.overlap(name, job)
        for members in self.places.values():
            self.order(sorted(members))

    def came(self, name, job, nonces):
        line, calls = job.stored, self.calls.get(job.nonce, [])
        if line is None:
            self.object("from nowhere", f"{name} was never stored", job.started[1], job.left and job.left.line)
        elif job.nonce not in self.scheduled:
            if not calls:
                self.object("from nowhere", f"{name} was stored without an enqueue", line)
            elif all(call.kind == "fail" for call in calls):
                self.object("from nowhere", f"{name} was stored and its caller told it was not", calls[0].line, line)
            first = nonces.setdefault(job.nonce, line)
            if first != line:
                self.object("from nowhere", f"{job.nonce} was stored twice", first, line)

    def overlap(self, name, job):
        spans = []
        for run in job.runs:
            for lease in job.leases:
                within = lease.begun - CLOCKS_NS <= run.begun <= lease.end + CLOCKS_NS
                own = not run.value.get("remote") or run.value["worker"] == lease.value.get("worker")
                if within and own and run.value["attempt"] == lease.value["attempts"]:
                    spans.append((max(run.begun, lease.begun), min(run.end, lease.end), run.line))
        spans.sort()
        for (_, end, first), (begun, _, second) in zip(spans, spans[1:]):
            if first != second and begun + CLOCKS_NS < end:
                self.object("leases", f"{name} ran twice at once within its leases", first, second)

    def order(self, places):
        answered, latest = [place[0] for place in places], []  # `latest`: the last to end of those up to each.
        for _, _, name, line in places:
            latest.append(max([(*self.jobs[name].ended, name, line), *latest[-1:]], key=lambda one: one[0]))
        for _, begun, name, line in places:
            at, started = bisect.bisect_left(answered, begun), self.jobs[name].started
            if at and started[0] < latest[at - 1][0]:
                _, ended, first, asked = latest[at - 1]
                text = f"{name} started before {first}, which came first, had ended"
                self.object("order", text, asked, line, started[1], ended)


def judge(path):
    judged, line = Judge(), 0
    with open(path, encoding="utf-8") as history:
        for line, text in enumerate(history, 1):
            try:
                judged.take(line, json.loads(text))
            except (ValueError, KeyError, TypeError) as error:
                print(f"{path}:{line} is no operation ({error!r}): {text[:200]}", file=sys.stderr)
                return 2
    judged.conclude()
    shown = {rule: found[:SHOWN_MAX] for rule, found in judged.objections.items()}
    cited = {line for found in shown.values() for _, lines in found for line in lines}
    with open(path, encoding="utf-8") as history:
        texts = {number: text.rstrip() for number, text in enumerate(history, 1) if number in cited}
    for rule, found in shown.items():
        print(f"{rule}: {len(judged.objections[rule])}")
        for text, lines in found:
            print(f"  {text}", *(f"    {texts[number]}" for number in sorted(lines)), sep="\n")
    print(f"{line} operations of {len(judged.jobs)} jobs, {sum(map(len, judged.objections.values()))} objections")
    return 1 if judged.objections else 0


if __name__ == "__main__":
    sys.exit(judge(sys.argv[1]) if len(sys.argv) == 2 else "usage: python3 judge.py FILE")
