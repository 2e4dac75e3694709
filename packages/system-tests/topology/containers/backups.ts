import { expect, test } from "vitest";
import { eventually } from "@atlasqueue/harness";
import { blockWith } from "../harness/page.ts";
import { password, type Tour } from "./tour.ts";

const minute_ms = 60_000;
const login = `postgres://atlasqueue:${password}`;
const own = `${login}@127.0.0.1:5432/atlasqueue`;
const page = (word: string) => blockWith("backup.md", "bash", word);

/** Part of the containers' tour: the commands of backup.md, in PostgreSQL's container, whose programs are of its version. */
export function testBackups(tour: () => Tour): void {
  const compose = (args: readonly string[]) => tour().compose.compose(args);
  const paste = (command: string, env: Readonly<Record<string, string>>, user = "postgres") => {
    const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    return compose(["exec", "-T", "-u", user, ...variables, "postgres", "bash", "-ec", command]);
  };
  const query = async (url: string, statement: string) =>
    (await paste(`psql "$DATABASE_URL" -tAc "$STATEMENT"`, { DATABASE_URL: url, STATEMENT: statement })).trim();
  const statusOf = (url: string, id: string) => query(url, `SELECT status FROM atlasqueue.jobs WHERE id = '${id}'`);
  const startWorkers = () => compose(["start", "worker"]);

  /** A worker of its own runs the job there; afterwards doctor is content. `place`: as containers reach the database. */
  async function runsThere(place: string, url: string, id: string): Promise<void> {
    const servers = [`DATABASE_URL=${login}@${place}`, `REDIS_URL=redis://:${password}@redis:6379/1`];
    const env = servers.flatMap((each) => ["-e", each]);
    const worker = (await compose(["run", "-d", "--no-deps", ...env, "worker"])).trim();
    await eventually(async () => expect(await statusOf(url, id)).toBe("succeeded"), { timeout_ms: minute_ms });
    expect(await compose(["run", "--rm", "-T", "--no-deps", ...env, "api", "doctor"])).toContain("✓ Postgres");
    await tour().engine.docker(["stop", worker]);
    await tour().engine.docker(["rm", worker]);
  }

  test(
    "a dump, restored into another database, has the jobs, and they run there",
    { timeout: 5 * minute_ms },
    async () => {
      await paste("mkdir -p /backups/wal && chown -R postgres /backups", {}, "root");
      await compose(["stop", "worker"]);
      const id = await tour().create({ type: "tour.hello", payload: { name: "dump" } });
      await paste(page("pg_dump"), { DATABASE_URL: own });
      await startWorkers();
      await tour().reaches(id, { status: "succeeded" });
      await query(own, "CREATE DATABASE restored");
      const restored = own.replace(/atlasqueue$/, "restored");
      await paste(page("pg_restore"), { DATABASE_URL: restored });
      expect(await statusOf(restored, id)).toBe("queued");
      await runsThere("postgres:5432/restored", restored, id);
      // Over a database that is there already, too.
      await paste(page("pg_restore"), { DATABASE_URL: restored });
      expect(await statusOf(restored, id)).toBe("queued");
    },
  );

  test("a base backup and the archive lead back to a moment", { timeout: 5 * minute_ms }, async () => {
    await paste(page("archive_command"), { DATABASE_URL: own });
    await compose(["restart", "postgres"]);
    await tour().ready(200);
    await paste(page("pg_basebackup"), { DATABASE_URL: own });
    await compose(["stop", "worker"]);
    const before = await tour().create({ type: "tour.hello", payload: { name: "before" } });
    const UNTIL = await query(own, "SELECT clock_timestamp()");
    const after = await tour().create({ type: "tour.hello", payload: { name: "after" } });
    const segment = await query(own, "SELECT pg_walfile_name(pg_current_wal_lsn())");
    await query(own, "SELECT pg_switch_wal()");
    await startWorkers();
    await eventually(
      async () => expect(await query(own, `SELECT last_archived_wal >= '${segment}' FROM pg_stat_archiver`)).toBe("t"),
      { timeout_ms: minute_ms },
    );
    const restored = own.replace(":5432", ":5433");
    await paste(page("recovery_target_time"), { UNTIL });
    // It is up for reads before it has reached the moment.
    await eventually(async () => expect(await query(restored, "SELECT pg_is_in_recovery()")).toBe("f"), {
      timeout_ms: minute_ms,
    });
    expect([await statusOf(restored, before), await statusOf(restored, after)]).toEqual(["queued", ""]);
    await runsThere("postgres:5433/atlasqueue", restored, before);
    await paste("pg_ctl -D /backups/restored -m fast stop", {});
  });
}
