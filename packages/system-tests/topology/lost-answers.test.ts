import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient } from "@atlasqueue/client";
import { eventually, findProgram, forFile } from "@atlasqueue/harness";
import { chance } from "@atlasqueue/harness/servers";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system/system.ts";
import { unreliableProxy, type UnreliableProxy } from "./lost-answers/unreliable-proxy.ts";

const minutes = Number(process.env["LOST_ANSWERS_MINUTES"] ?? 5);
const queue = "unreliable";
const lease_seconds = 5;
/** As many wait, however fast the machine is. */
const waiting_jobs = 30;

const system = forFile(startSystem);

type Start = { worker: string; job: string; at: number };
type Change = { job: string; worker: string | null; token: string | null; at: number };

test(
  "workers in curl, Python, its package and ours, behind proxies that lose answers: none starts another's job, and none is lost",
  { timeout: minutes * 60_000 + 180_000 },
  async () => {
    const api = await system.startApi({ LOG_LEVEL: "error" });
    await recordHolders();
    const starts: Start[] = [];
    const proxies = await Promise.all([1, 2, 3, 4].map((seed) => unreliableProxy(api.url, chance(seed))));
    onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))));
    const [curl, python, sdk, own] = proxies as [UnreliableProxy, UnreliableProxy, UnreliableProxy, UnreliableProxy];
    const python3 = findProgram("python_tools") ?? "python3";
    for (const at of [1, 2]) {
      startProgram("sh", "worker.sh", curl.url, `curl-${at}`, starts);
      startProgram(python3, "worker.py", python.url, `python-${at}`, starts);
    }
    startProgram(python3, "worker_sdk.py", sdk.url, "package", starts);
    startOurs(own.url, "ours", starts);

    const ids: string[] = [];
    const ends_at = performance.now() + minutes * 60_000;
    while (performance.now() < ends_at) {
      for (let waiting = await left(); waiting < waiting_jobs; waiting += 1)
        ids.push(await api.create({ type: "work", queue, max_attempts: 25, backoff: at_once }));
      await delay(500);
    }
    await eventually(async () => expect(await left()).toBe(0), { timeout_ms: 120_000 });

    const changes = await system.sql<Change[]>`
      SELECT job, worker, token, (extract(epoch FROM at) * 1000)::float8 AS at FROM public.holders ORDER BY at`;
    expect(new Set(starts.map(({ job }) => job))).toEqual(new Set(ids));
    const foreign = starts.filter((start) => holderAt(changes, start) !== start.worker);
    expect(foreign.map((start) => ({ start, changes: changes.filter(({ job }) => job === start.job) }))).toEqual([]);

    const unused = attemptsWithoutStart(changes, starts);
    const asked = proxies.flatMap((proxy) => proxy.asked);
    const tries = (token: string) => asked.filter((one) => one.token === token);
    const inTime = unused.filter(({ token, at }) =>
      tries(token).some(
        ({ delivered_at }) => delivered_at !== undefined && delivered_at < at + (lease_seconds * 1_000) / 2,
      ),
    );
    expect(inTime, "a response came in time, and the job was not started").toEqual([]);
    expect(
      unused.filter(({ token }) => tries(token).length < 2),
      "not asked for again",
    ).toEqual([]);
    const lost = proxies.reduce((sum, { fates }) => sum + fates.cut + fates.swallowed, 0);
    const by = ["curl", "python", "package", "ours"].map(
      (kind) => `${kind} ${starts.filter(({ worker }) => worker.startsWith(kind)).length}`,
    );
    process.stdout.write(
      `${ids.length} jobs, ${starts.length} starts (${by.join(", ")}), ${lost} responses lost, ` +
        `${unused.length} attempts without a start\n`,
    );
  },
);

const at_once = { kind: "fixed", base_seconds: 0, max_seconds: 0 } as const;

/** Jobs that have not succeeded. */
async function left(): Promise<number> {
  const [row] = await system.sql<{ jobs: number }[]>`
    SELECT count(*)::int AS jobs FROM atlasqueue.jobs WHERE status <> 'succeeded'`;
  return row?.jobs ?? 0;
}

/** Who holds each job, from when on, as the database saw it. */
async function recordHolders(): Promise<void> {
  await system.sql.unsafe(`
    CREATE TABLE public.holders (job uuid, worker text, token uuid, at timestamptz DEFAULT clock_timestamp());
    CREATE FUNCTION public.note_holder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO public.holders (job, worker, token) VALUES (NEW.id, CASE WHEN NEW.status = 'running' THEN NEW.worker_id END, NEW.lease_token);
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_holder AFTER UPDATE ON atlasqueue.jobs FOR EACH ROW
      WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.lease_token IS DISTINCT FROM NEW.lease_token) EXECUTE FUNCTION public.note_holder()`);
}

function startProgram(command: string, file: string, url: string, worker: string, starts: Start[]): void {
  const path = fileURLToPath(new URL(`./lost-answers/${file}`, import.meta.url));
  const child = spawn(command, [path, url, queue, worker], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  createInterface({ input: child.stdout }).on("line", (line) => {
    const [what, job = "", at] = line.split(" ");
    if (what === "start") starts.push({ worker, job, at: Number(at) });
  });
}

function startOurs(url: string, workerId: string, starts: Start[]): void {
  const run = async (_payload: unknown, { job }: { job: { id: string } }) => {
    starts.push({ worker: workerId, job: job.id, at: Date.now() });
    await delay(100);
  };
  const options = { workerId, concurrency: 2, leaseSeconds: lease_seconds, waitSeconds: 1, observe: () => {} };
  const worker = createClient({ url }).work(queue, run, options);
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
}

/** The workers print whole milliseconds, cut off. */
const clock_ms = 1;

const holderAt = (changes: readonly Change[], { job, at }: Start) =>
  changes.findLast((change) => change.job === job && change.at < at + clock_ms)?.worker;

/** Leases that no handler was started for: each counted an attempt. */
function attemptsWithoutStart(changes: readonly Change[], starts: readonly Start[]) {
  return changes.flatMap((change, place) => {
    if (change.worker === null || change.token === null) return [];
    const next = changes.slice(place + 1).find(({ job }) => job === change.job);
    const started = starts.some(
      ({ job, worker, at }) =>
        job === change.job && worker === change.worker && at + clock_ms > change.at && at < (next?.at ?? Infinity),
    );
    return started ? [] : [{ job: change.job, worker: change.worker, token: change.token, at: change.at }];
  });
}
