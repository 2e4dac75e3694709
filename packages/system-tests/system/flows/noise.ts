import { eventually, type SpawnedProcess } from "@atlasqueue/harness";
import { between, oneOf, shuffled } from "@atlasqueue/harness/servers";
import { isQuiet, moveCount } from "./record.ts";
import { act, startApi, startWorker, type World } from "./world.ts";

/** Longer than a lease lasts. */
const frozen_ms = 2_500;

type Noise = (world: World, random: () => number) => Promise<unknown>;

const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const aJob = async ({ system, queue }: World, random: () => number, statuses: string[]) => {
  const rows = await system.sql<{ id: string }[]>`
    SELECT id FROM atlasqueue.jobs WHERE queue = ${queue} AND status = ANY(${`{${statuses.join()}}`}::text[]) ORDER BY id`;
  return oneOf(random, rows)?.id;
};

const cancelJob: Noise = async (world, random) => {
  const job_id = await aJob(world, random, ["scheduled", "blocked", "queued", "running", "failed"]);
  if (job_id) await act(world, "cancel", { job_id });
};
const retryJob: Noise = async (world, random) => {
  const job_id = await aJob(world, random, ["dead", "cancelled", "failed"]);
  if (job_id) await act(world, "retry", { job_id });
};
const onFlow =
  (verb: "cancel" | "retry"): Noise =>
  async (world, random) => {
    const flow_id = oneOf(random, world.flow_ids);
    if (flow_id) await act(world, verb, { flow_id });
  };

const killWorker: Noise = async (world, random) => {
  const at = between(random, 0, world.workers.length - 1);
  world.workers[at]?.kill("SIGKILL");
  world.workers[at] = await startWorker(world);
};
const killApi: Noise = async (world, random) => {
  const at = between(random, 0, world.apis.length - 1);
  world.apis[at]?.process.kill("SIGKILL");
  world.apis[at] = await startApi(world);
};
/** It forgets what was not synced to its disk. */
const crashPostgres: Noise = async ({ system }) => {
  const { postgres } = system.servers;
  await postgres.kill("SIGKILL");
  await postgres.restart();
  await eventually(() => system.sql`SELECT 1`);
};
export const freeze = async (frozen: SpawnedProcess | undefined) => {
  frozen?.kill("SIGSTOP");
  const since = performance.now();
  await eventually(() => performance.now() - since > frozen_ms);
  frozen?.kill("SIGCONT");
};
const freezeWorker: Noise = (world, random) => freeze(oneOf(random, world.workers));
const freezeApi: Noise = (world, random) => freeze(oneOf(random, world.apis)?.process);
const flushRedis: Noise = ({ system }) => system.redis.flushall();

/** What people do, one after the other. */
const acts = [
  ...times(9, cancelJob),
  ...times(14, retryJob),
  ...times(2, onFlow("cancel")),
  ...times(5, onFlow("retry")),
  // Here, as the others ask PostgreSQL whom to act on.
  ...times(2, crashPostgres),
];
/** What breaks, beside that. */
const breaks = [...times(3, killWorker), killApi, ...times(2, flushRedis), ...times(2, freezeWorker), freezeApi];

/** Both, each when some more has happened, or when nothing happens any more. */
export async function makeNoise(world: World, random: () => number): Promise<void> {
  const lane = async (all: readonly Noise[], moves_max: number) => {
    for (const one of shuffled(random, all)) {
      // PostgreSQL may be away meanwhile.
      const enough = (await eventually(() => moveCount(world))) + between(random, 1, moves_max);
      await eventually(async () => (await moveCount(world)) >= enough || (await isQuiet(world)));
      await one(world, random);
    }
  };
  await Promise.all([lane(acts, 40), lane(breaks, 60)]);
}
