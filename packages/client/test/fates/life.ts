import { between, chance, oneOf } from "@atlasqueue/testing/servers";
import { onTestFinished, vi } from "vitest";
import { createClient, LeaseLostError, type WorkEvent } from "../../src/index.ts";
import { modelApi, type ModelApi, type ModelJob } from "./model-api.ts";
import { network, type Fate } from "./network.ts";

const leases_s = [3, 6, 6, 10, 10, 13, 15, 20, 20, 30, 60, 600];
const calm_ms = 120_000;
/** Lines of what happened before something went wrong. */
const told_max = 60;

/** What becomes of the calls of a life. */
export type Fortune = {
  fateOf(path: string): Fate;
  /** Whether what calls have met excuses that a lease was not given back until it ended, though no handler had its job. */
  excusesUnseen(job: ModelJob): boolean;
  /** Whether it excuses that a worker takes a lease for lost now, while the handler runs or as its outcome is told. */
  excusesLost(during: "handling" | "settling"): boolean;
  /** Whether the worker is stopped in the middle of it. */
  stops?: boolean;
  /** Now and then, for what befalls the API itself. */
  turn?(api: ModelApi): void;
};
type World = { random: () => number; lease_ms: number };

/**
 * The life of some jobs under a remote worker, by a clock that costs no time: each handler runs for up to two leases, and
 * each call meets its fate. Afterwards all is calm, and everything must come to its end. Resolves with what went wrong, and
 * what happened.
 */
export async function life(
  seed: number,
  fortuneOf: (world: World) => Fortune,
): Promise<{ wrong: string[]; log: string[] }> {
  const random = chance(seed);
  vi.spyOn(Math, "random").mockImplementation(random);
  const lease_seconds = oneOf(random, leases_s) ?? 30;
  const lease_ms = lease_seconds * 1_000;
  const began_ms = performance.now();
  const log: string[] = [];
  const wrong: string[] = [];
  const note = (text: string) => void log.push(`${((performance.now() - began_ms) / 1_000).toFixed(2)} ${text}`);
  const fault = (text: string) => {
    note(`!! ${text}`);
    wrong.push(text);
  };

  const is_grouped = random() < 0.3;
  const jobs = Array.from({ length: between(random, 1, 5) }, (_, at): ModelJob => ({
    id: `j${at}`,
    group: is_grouped ? "g" : null,
    status: "ready",
    attempts: 0,
    token: undefined,
    leased_at_ms: 0,
    ends_at_ms: 0,
    steps: new Map(),
  }));
  /** Handlers that run and were not told to stop, by their lease's token and job. */
  const running = new Map<string, AbortSignal>();
  const seen = new Set<string>();
  const api = modelApi(jobs, {
    ended(job) {
      const { id, token = "" } = job;
      const key = `${token} ${id}`;
      if (running.get(key)?.aborted === false) fault(`${id}: its handler runs on although its lease has ended`);
      const told = `${id}: its lease has ended${seen.has(key) ? "" : ", and no handler has seen it"}`;
      if (seen.has(key) || fortune.excusesUnseen(job)) note(told);
      else fault(told);
    },
  });
  let is_over = false;
  const fortune = fortuneOf({ random, lease_ms });
  const fetch = network(api, random, (path) => {
    const fate = is_over ? "prompt" : fortune.fateOf(path);
    note(`${path.slice(4)} ${fate}`);
    return fate;
  });
  const client = createClient({
    url: "http://model",
    fetch,
    timeoutMs: oneOf(random, [10_000, 10_000, 60_000]) ?? 10_000,
  });
  const observe = (event: WorkEvent) => {
    const { event: name, ...rest } = event;
    note(
      `${name} ${"job" in rest ? rest.job.id : ""} ${"error" in rest ? String(rest.error) : ""} ${"during" in rest ? rest.during : ""}`,
    );
    if (name !== "lease_lost" || event.during === "starting") return;
    // Not if it is settled, or was given back.
    const has_cost = jobs.some((job) => job.id === event.job.id && isOpen(job) && job.attempts > 0);
    if (has_cost && !fortune.excusesLost(event.during)) fault(`${event.job.id}: taken for lost`);
  };
  const worker = client.work(
    "q",
    async (_payload, { job, signal, progress, step }) => {
      const { token } = jobs.find(({ id }) => id === job.id) ?? {};
      const key = `${token} ${job.id}`;
      for (const [other, still] of running)
        if (other.endsWith(` ${job.id}`) && !still.aborted) fault(`${job.id}: runs twice at once`);
      running.set(key, signal);
      seen.add(key);
      try {
        for (let parts = between(random, 0, 4); parts > 0; parts -= 1) {
          await new Promise((resolve) => setTimeout(resolve, random() * lease_ms * 0.7));
          signal.throwIfAborted();
          if (random() < 0.2) progress({ parts });
          if (random() < 0.2) await step(`s${parts}`, () => parts);
        }
      } catch (error) {
        if (!(error instanceof LeaseLostError) && !(signal.aborted && fortune.stops))
          fault(`${job.id}: ${String(error)}`);
        throw error;
      } finally {
        running.delete(key);
      }
    },
    {
      leaseSeconds: lease_seconds,
      waitSeconds: oneOf(random, [0, 5, 20]) ?? 20,
      concurrency: between(random, 1, 3),
      runMax: oneOf(random, [1, 10]) ?? 1,
      observe,
    },
  );
  const pass = async (ms: number) => {
    for (
      const end_ms = performance.now() + ms;
      performance.now() < end_ms && (jobs.some(isOpen) || worker.running > 0);
    )
      await vi.advanceTimersByTimeAsync(lease_ms / 4);
  };
  const turning = setInterval(() => !is_over && fortune.turn?.(api), 100);
  if (fortune.stops) await vi.advanceTimersByTimeAsync(random() * 2 * lease_ms);
  else {
    await pass(3 * lease_ms * jobs.length);
    is_over = true;
    api.databaseComes();
    note("calm");
    await pass(3 * lease_ms * jobs.length + calm_ms);
    await vi.advanceTimersByTimeAsync(1_000);
    for (const { id, status } of jobs) if (status !== "succeeded") fault(`${id} is ${status} in the end`);
    if (worker.running > 0) fault(`${worker.running} slots are in use in the end`);
  }
  const deadlineMs = oneOf(random, [0, 1_000, lease_ms]) ?? 0;
  note(`stop within ${deadlineMs}`);
  const stopped = worker.stop({ deadlineMs }).then(() => true);
  await vi.advanceTimersByTimeAsync(deadlineMs + 5_100);
  if (!(await Promise.race([stopped, Promise.resolve(false)]))) fault("the worker has not stopped");
  for (const { id, status } of jobs) if (status === "leased") fault(`${id} is held by a worker that has stopped`);
  clearInterval(turning);
  api.stop();
  const told = log.slice(0, log.findLastIndex((line) => line.includes("!!")) + 1).slice(-told_max);
  return { wrong, log: [`leases of ${lease_seconds} s, ${jobs.length} jobs`, ...told] };
}

const isOpen = ({ status }: Pick<ModelJob, "status">) => status === "ready" || status === "leased";

/** With a clock that only the test moves. */
export function ownClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}
