import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, startStandby, type Standby } from "@atlasqueue/harness";
import { startSystem, type System } from "../../system/system.ts";
import { blockWith } from "./page.ts";
import { run } from "./run.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

/** The commands of failover.md on `ANY 1 (…)`, as an operator pastes them: what they set, and that it is what it says. */
export function testQuorum(): void {
  let system: System;
  let standbys: Standby[];
  beforeAll(async () => {
    system = await startSystem();
    standbys = [];
    // One after another, as each is a base backup of the primary.
    for (const name of ["standby1", "standby2"]) standbys.push(await startStandby(system.servers.postgres, { name }));
  });
  afterAll(async () => {
    for (const standby of standbys ?? []) await standby.stop();
    await system?.stop();
  });
  const [first = "", look = "", promote = "", doctor = ""] = blockWith("failover.md", "sh", "ANY 1").trim().split("\n");
  /** What a command says, whatever it ends with. */
  const paste = async (command: string, database: string) => {
    const { postgres: primary, redis } = system.servers;
    const servers = { DATABASE_URL: database, REDIS_URL: redis.url };
    const env = { PRIMARY: primary.url, STANDBY: standbys[1]?.postgres.url ?? "", ...servers };
    return (await run("sh", ["-ec", command.replace(/^atlasqueue/, "npx -y pnpm -s $&")], { cwd: root, env })).stdout;
  };

  test("one standby may be away, and with neither a commit waits until one is back", async () => {
    const { url } = system.servers.postgres;
    await paste(first, url);
    await eventually(async () => expect((await paste(look, url)).match(/streaming \| quorum/g)).toHaveLength(2));
    const write = async (n: number) => {
      const sql = postgres(url, { max: 1, onnotice: () => {} });
      await sql`CREATE TABLE IF NOT EXISTS written (n int)`;
      await sql`INSERT INTO written VALUES (${n})`;
      await sql.end();
    };
    await write(1);
    standbys[0]?.link.refuse();
    await write(2);
    standbys[1]?.link.refuse();
    let waits = true;
    const third = write(3).then(() => (waits = false));
    await eventually(async () => {
      const [row] = await system.sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
      expect(row?.["n"]).toBe(1);
    });
    expect(waits).toBe(true);
    standbys[1]?.link.heal();
    await third;
  });

  test("the standby that has everything takes over, and doctor says that it takes writes", async () => {
    const [one, other] = standbys;
    expect(await paste(doctor, one?.postgres.url ?? "")).toMatch(/✗ Postgres +is read-only/);
    await system.servers.postgres.kill("SIGKILL");
    expect(await paste(promote, "")).toContain(" t");
    const sql = postgres(other?.postgres.url ?? "", { max: 1, onnotice: () => {} });
    expect((await sql`SELECT n FROM written ORDER BY n`).map((row) => row["n"])).toEqual([1, 2, 3]);
    await sql.end();
    expect(await paste(doctor, other?.postgres.url ?? "")).toMatch(/✓ Postgres +answers, and takes writes/);
  });
}
