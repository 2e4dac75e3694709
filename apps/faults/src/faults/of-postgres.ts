import { setTimeout as delay } from "node:timers/promises";
import postgres from "postgres";
import type { Rig } from "../rig/rig.ts";
import { takenByFault } from "../rig/samples.ts";
import type { Card } from "./card.ts";

const victims = () => ["postgres"];
const connections_max = 200;
const lock_tries_max = 10;

/** What happens to PostgreSQL. */
export const postgresCards: readonly Card[] = [
  {
    name: "postgres-stopped-at-once",
    victims,
    sizes: [0, 3_000],
    takes_ms: (size) => size + 5_000,
    signal: "SIGQUIT",
    async play({ postgres: { primary, restore } }, { size }) {
      await primary().kill("SIGQUIT");
      await delay(size);
      await restore();
    },
  },
  {
    name: "postgres-killed",
    victims,
    sizes: [0],
    takes_ms: () => 5_000,
    signal: "SIGKILL",
    async play({ postgres: { primary, restore } }) {
      await primary().kill("SIGKILL");
      await restore();
    },
  },
  {
    name: "postgres-restarted",
    victims,
    sizes: [0],
    takes_ms: () => 5_000,
    signal: "SIGINT",
    async play({ postgres: { primary, restore } }) {
      await primary().restart();
      await restore();
    },
  },
  {
    name: "backends-terminated",
    victims,
    sizes: [1, 5, 100],
    takes_ms: () => 2_000,
    async play(rig, { size }) {
      const ended = await rig.postgres.asAdmin(
        (sql) => sql`
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
           ORDER BY md5(pid::text) LIMIT ${size}`,
      );
      return `${ended.length} of them`;
    },
  },
  {
    name: "jobs-locked",
    victims,
    sizes: [5_000, 30_000],
    takes_ms: (size) => size + 5_000,
    play: (rig, { size }) => lockJobs(rig, size),
  },
  {
    name: "connections-exhausted",
    victims,
    sizes: [3_000, 8_000],
    takes_ms: (size) => size + 2_000,
    play: (rig, { size }) => takeConnections(rig, size),
  },
  {
    name: "disk-full",
    victims,
    sizes: [2_000, 6_000],
    takes_ms: (size) => size + 8_000,
    async play({ disk, postgres: { restore } }, { size }) {
      if (!disk.full) return "not played: no file system of our own could be mounted";
      try {
        await disk.full.fill();
        await delay(size);
      } finally {
        await disk.full.free();
        await restore();
      }
      return undefined;
    },
  },
  {
    name: "failover",
    victims,
    sizes: [2_000],
    takes_ms: (size) => size + 10_000,
    async play({ postgres: { failover, restore } }, { size }) {
      await failover();
      await delay(size);
      await restore();
    },
  },
];

/** An exclusive lock, as a migration by hand takes one. Whoever holds the table is waited for, at most two seconds at a time. */
async function lockJobs({ postgres: { asAdmin } }: Rig, hold_ms: number): Promise<string> {
  for (let tries = 1; tries <= lock_tries_max; tries += 1) {
    const got = await asAdmin(async (sql) => {
      return sql.begin(async (lock) => {
        await lock`SET LOCAL lock_timeout = '2s'`;
        await lock`LOCK TABLE atlasqueue.jobs IN ACCESS EXCLUSIVE MODE`;
        await delay(hold_ms);
        return true;
      });
    }).catch((error: { code?: string }) => {
      if (error.code === "55P03") return false;
      throw error;
    });
    if (got) return `held for ${hold_ms} ms`;
  }
  return "not played: others held the table";
}

/** All connections that are left are taken, and those that others give up. */
async function takeConnections({ postgres: { primary } }: Rig, hold_ms: number): Promise<string> {
  const taken: postgres.Sql[] = [];
  let count = 0;
  const until = performance.now() + hold_ms;
  try {
    while (performance.now() < until) {
      const sql = postgres(primary().url, {
        max: 1,
        fetch_types: false,
        onnotice: () => {},
        connect_timeout: 3,
        backoff: () => 1,
        connection: { application_name: takenByFault },
      });
      taken.push(sql);
      const got = await sql`SELECT 1`.then(
        () => true,
        () => false,
      );
      count += Number(got);
      if (!got || taken.length > connections_max) await delay(200);
    }
  } finally {
    await Promise.allSettled(taken.map((sql) => sql.end({ timeout: 1 })));
  }
  return `${count} of them`;
}
