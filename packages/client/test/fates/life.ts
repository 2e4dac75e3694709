import { between, chance, oneOf } from "@atlasqueue/harness/servers";
import { vi } from "vitest";
import { createClient, type RemoteContext } from "../../src/index.ts";
import type { Fortune, World } from "./fortunes.ts";
import { isOpen, judgeOf, type Verdict } from "./judge.ts";
import { modelApi, newJob } from "./model-api.ts";
import { network } from "./network.ts";

const leases_s = [3, 6, 6, 10, 10, 13, 15, 20, 20, 30, 60, 600];
/** Beside some leases, for what calls may still wait for when everything is calm. */
const calm_ms = 120_000;
/** What a stop may take beyond its deadline. */
const farewell_ms = 5_100;

/**
 * The life of some jobs under a remote worker, by a clock that costs no time: each handler runs for up to two leases, and
 * each call meets its fate. Afterwards all is calm, and everything must come to its end; or the worker is stopped in the
 * middle, and must leave nothing held. Resolves with what went wrong, and what had happened.
 */
export async function life(seed: number, fortuneOf: (world: World) => Fortune): Promise<Verdict> {
  const random = chance(seed);
  vi.spyOn(Math, "random").mockImplementation(random);
  const lease_seconds = oneOf(random, leases_s) ?? 30;
  const lease_ms = lease_seconds * 1_000;
  const jobs = newJobs(between(random, 1, 5), random() < 0.3 ? "g" : null);
  const fortune = fortuneOf({ random, lease_ms });
  const judge = judgeOf(jobs, fortune);
  const api = modelApi(jobs, judge);
  let is_calm = false;
  const fateOf = (path: string) => {
    const fate = is_calm ? "prompt" : fortune.fateOf(path);
    judge.note(`${path.slice(4)} ${fate}`);
    return fate;
  };
  const fetch = network(api, random, fateOf);
  const timeoutMs = oneOf(random, [10_000, 10_000, 60_000]) ?? 10_000;
  const run = async ({ signal, progress, step }: RemoteContext): Promise<void> => {
    for (let parts = between(random, 0, 4); parts > 0; parts -= 1) {
      await passes(random() * lease_ms * 0.7);
      signal.throwIfAborted();
      if (random() < 0.2) progress({ parts });
      if (random() < 0.2) await step(`s${parts}`, () => parts);
    }
  };
  const worker = createClient({ url: "http://model", fetch, timeoutMs }).work(
    "q",
    (_payload, context) => judge.runs(context.job.id, context.signal, () => run(context)),
    {
      leaseSeconds: lease_seconds,
      waitSeconds: oneOf(random, [0, 5, 20]) ?? 20,
      concurrency: between(random, 1, 3),
      runMax: oneOf(random, [1, 10]) ?? 1,
      observe: judge.observe,
    },
  );

  const turning = setInterval(() => !is_calm && fortune.turn?.(api), 100);
  const allDone = async (ms: number) => {
    const end_ms = performance.now() + ms;
    while (performance.now() < end_ms && (jobs.some(isOpen) || worker.running > 0)) await pass(lease_ms / 4);
  };
  if (fortune.stops) await pass(random() * 2 * lease_ms);
  else {
    await allDone(3 * lease_ms * jobs.length);
    is_calm = true;
    api.databaseComes();
    judge.note("calm");
    await allDone(3 * lease_ms * jobs.length + calm_ms);
    await pass(1_000);
    for (const { id, status } of jobs) if (status !== "succeeded") judge.fault(`${id} is ${status} in the end`);
    if (worker.running > 0) judge.fault(`${worker.running} slots are in use in the end`);
  }
  const deadlineMs = oneOf(random, [0, 1_000, lease_ms]) ?? 0;
  judge.note(`stop within ${deadlineMs} ms`);
  const stopped = worker.stop({ deadlineMs }).then(() => true);
  await pass(deadlineMs + farewell_ms);
  if (!(await Promise.race([stopped, Promise.resolve(false)]))) judge.fault("the worker has not stopped");
  for (const { id, status } of jobs) if (status === "leased") judge.fault(`${id} is held by a worker that has stopped`);
  clearInterval(turning);
  api.stop();
  const { wrong, log } = judge.verdict();
  return { wrong, log: [`leases of ${lease_seconds} s, ${jobs.length} jobs`, ...log] };
}

const newJobs = (count: number, group: string | null) =>
  Array.from({ length: count }, (_, at) => newJob(`j${at}`, group));

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const passes = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
