import { mkdirSync } from "node:fs";
import { migrateDatabase } from "@atlasqueue/core";
import { freePort } from "@atlasqueue/embedded";
import { eventually } from "@atlasqueue/harness/servers";
import { installAudit } from "../audit/install-audit.ts";
import type { History } from "../history/open-history.ts";
import { apiNames, lease_ms, parts, tenants, type Part } from "./cast.ts";
import { makeDisk, type Disk } from "./disk.ts";
import { linkName, openLinks, type Links } from "./links.ts";
import { startPostgresRig, type PostgresRig } from "./postgres.ts";
import { keepProcesses, type Processes } from "./processes.ts";
import { startRedisRig, type RedisRig } from "./redis.ts";
import { makeTokens } from "./tokens.ts";

/** Everything that can be broken. */
export type Rig = {
  readonly parts: readonly Part[];
  readonly disk: Disk;
  readonly postgres: PostgresRig;
  readonly redis: RedisRig;
  readonly links: Links;
  readonly processes: Processes;
  /** Ends all of it, at once, whatever state it is in. */
  stop(): Promise<void>;
};

export type RigOptions = {
  folder: string;
  history: History;
  historyFolder: string;
  seed: number;
  rate: number;
  synchronous: boolean;
};

const up_ms_max = 60_000;

/** The servers, a database ready for use, all programs up. Whatever goes wrong meanwhile, nothing of it is left behind. */
export async function startRig(options: RigOptions): Promise<Rig> {
  const ends: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).toReversed())
      await Promise.resolve()
        .then(end)
        .catch(() => {});
  };
  try {
    return await assemble(options, ends, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function assemble(options: RigOptions, ends: (() => unknown)[], stop: () => Promise<void>): Promise<Rig> {
  const { folder, history, seed, rate, synchronous } = options;
  mkdirSync(folder, { recursive: true });
  const disk = await makeDisk();
  ends.push(() => disk.remove());
  const links = openLinks();
  ends.push(() => links.close());
  const moved = (to: string) => (server: { url: string }) => links.serve(to, server.url);
  const postgres = await startPostgresRig({ folder: disk.folder, synchronous, moved: moved("postgres") });
  ends.push(() => postgres.stop());
  const redis = await startRedisRig({ folder: disk.folder, moved: moved("redis") });
  ends.push(() => redis.stop());
  links.serve("postgres", postgres.primary().url);
  links.serve("redis", redis.primary().url);
  await migrateDatabase(postgres.primary().url);
  await postgres.asAdmin(installAudit);
  const tokens = await makeTokens(postgres.primary().url, tenants);

  const ports = await Promise.all(apiNames.map(() => freePort()));
  apiNames.forEach((name, at) => links.serve(name, `http://127.0.0.1:${ports[at]}`));
  const all = parts(rate, ports);
  const processes = keepProcesses(folder, history);
  ends.push(() => processes.killAll());
  const common = {
    FAULTS_HISTORY: options.historyFolder,
    FAULTS_SEED: String(seed),
    FAULTS_TOKENS: tokens,
    FAULTS_LEASE_SECONDS: String(lease_ms / 1_000),
  };
  const start = async (part: Part) => {
    const way = async (to: string) => (await links.between(part.name, to)).url;
    const apis = await Promise.all(
      apiNames
        .filter((api) => part.uses.includes(api))
        .map(async (api) => `${api}=${(await way(api)).replace(/\/$/, "")}`),
    );
    const env = {
      ...common,
      ...part.env,
      FAULTS_PROCESS: part.name,
      ...(part.uses.includes("postgres") && { DATABASE_URL: await way("postgres") }),
      ...(part.uses.includes("redis") && { REDIS_URL: await way("redis") }),
      ...(apis.length > 0 && { API_URLS: apis.join(",") }),
    };
    const [file, ...args] = part.runs;
    const uses = part.uses.map((to) => linkName(part.name, to));
    processes.start({ name: part.name, role: part.role, file, args, env, uses });
  };
  for (const part of all.filter(({ role }) => role === "api")) await start(part);
  await Promise.all(ports.map((port) => isUp(port)));
  for (const part of all.filter(({ role }) => role !== "api")) await start(part);
  return { parts: all, disk, postgres, redis, links, processes, stop };
}

async function isUp(port: number): Promise<void> {
  const ok = async () => (await fetch(`http://127.0.0.1:${port}/livez`, { signal: AbortSignal.timeout(2_000) })).ok;
  await eventually(ok, { timeout_ms: up_ms_max, interval_ms: 100, message: "the API is up" });
}
