import { setTimeout as sleep } from "node:timers/promises";
import { noSignal, redisSignal, type Signal } from "@atlasqueue/core";
import { createReadiness, requirePostgres, SignalUnavailableError, type Deps } from "@atlasqueue/core/internal";
import { clockSkewMs } from "@atlasqueue/core/internal/tools";
import { troubleLine, type ServerConfig } from "@atlasqueue/program";
import { ok, skipped, wrong, type Check } from "./check.ts";
import {
  checkClock,
  checkConnections,
  checkCounts,
  checkFlows,
  checkGroups,
  checkJobs,
  checkSchema,
  checkSweep,
} from "./database-checks.ts";
import { checkSettings } from "./server-settings.ts";
import { checkWaiting, checkWorkers } from "./work-checks.ts";
import { checkDeadLetters, checkOwner, checkWakeUps } from "./wake-up-checks.ts";

/** What is on its way at the first look has arrived by the second. */
const second_look_ms = 2_000;
const redis_timeout_ms = 2_000;

/**
 * Check everything, and whatever looks wrong a second time. Never rejects for what it finds: without a connection the
 * checks that need it are left out.
 *
 * @example
 * const checks = await examine(deps, signal);
 */
export async function examine(deps: Deps, signal: Signal | undefined): Promise<Check[]> {
  const readiness = createReadiness({ ...deps, signal: signal ?? noSignal() });
  const database = await attempt("Postgres", async () => {
    await clockSkewMs(deps);
    await requirePostgres(deps.database);
    if ((await readiness()).postgres !== "read_only") return ok("Postgres", "answers, and takes writes");
    return wrong("Postgres", "is read-only, so no job can be stored: a standby, an old primary, or a setting of it");
  });
  const redis = signal
    ? await checkRedis(signal)
    : skipped("Redis", "REDIS_URL is not set: workers find jobs by their sweep");
  if (database.state !== "ok") return [database, redis];
  const schema = await attempt("schema", () => checkSchema(deps));
  if (schema.state !== "ok") return [database, redis, schema];
  const looks: [name: string, look: () => Promise<Check>][] = [
    ["clocks", () => checkClock(deps)],
    ["connections", () => checkConnections(deps)],
    ["settings", () => checkSettings(deps)],
    ["sweep", () => checkSweep(deps)],
    ["groups", () => checkGroups(deps)],
    ["flows", () => checkFlows(deps)],
    ["counts", () => checkCounts(deps)],
    ["jobs", () => checkJobs(deps)],
    ["workers", () => checkWorkers({ ...deps, signal: redis.state === "ok" ? signal : undefined })],
    ["waiting", () => checkWaiting({ ...deps, signal: redis.state === "ok" ? signal : undefined })],
  ];
  if (signal && redis.state === "ok")
    looks.push(
      ["Redis owner", () => checkOwner({ ...deps, signal })],
      ["wake-ups", () => checkWakeUps({ ...deps, signal })],
      ["dead letters", () => checkDeadLetters({ ...deps, signal })],
    );
  const first = await inTurn(looks);
  if (first.every(({ state }) => state !== "wrong")) return [database, redis, schema, ...first];
  await sleep(second_look_ms);
  const again = await inTurn(looks.filter((_, at) => first[at]?.state === "wrong"));
  const second = new Map(again.map((check) => [check.name, check]));
  return [database, redis, schema, ...first.map((check) => second.get(check.name) ?? check)];
}

/** By a write, as a full server or a replica answers everything else. */
async function checkRedis(signal: Signal): Promise<Check> {
  try {
    await signal.check();
    return ok("Redis", "answers, and takes writes");
  } catch (error) {
    if (!(error instanceof SignalUnavailableError)) throw error;
    return wrong("Redis", signal.state() === "refusing" ? error.message : `cannot be reached: ${error.message}`);
  }
}

async function inTurn(looks: readonly [string, () => Promise<Check>][]): Promise<Check[]> {
  const checks: Check[] = [];
  for (const [name, look] of looks) checks.push(await attempt(name, look));
  return checks;
}

/** What a person can fix is a finding, not an exception. */
async function attempt(name: string, look: () => Promise<Check>): Promise<Check> {
  try {
    return await look();
  } catch (error) {
    const line = error instanceof SignalUnavailableError ? `cannot be reached: ${error.message}` : troubleLine(error);
    if (line === undefined) throw error;
    return wrong(name, line);
  }
}

/** The way workers reach Redis, but more patient. */
export function openSignal(redis: ServerConfig["redis"]): Signal | undefined {
  return redis && redisSignal({ ...redis, timeoutMs: redis_timeout_ms });
}
