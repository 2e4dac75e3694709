import { connectDatabase, migrateDatabase } from "@atlasqueue/core";
import { requirePostgres } from "@atlasqueue/core/internal";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { createDatabase, eventually, pgBouncer } from "@atlasqueue/harness";
import { applicationsDatabase, twoQueues } from "../system/own-schema.ts";
import { inParallel } from "../system/system.ts";
import { ask } from "./harness/ask.ts";
import { poolerOutages, startBehindPooler, timesUnprepared } from "./harness/behind-pooler.ts";
import { coreSuite } from "./harness/core-suite.ts";

/** What our transactions set for themselves. */
const ours = [
  "idle_in_transaction_session_timeout",
  "transaction_timeout",
  "tcp_user_timeout",
  "lock_timeout",
  "synchronous_commit",
];

coreSuite({
  start: () => startBehindPooler({ keeps_statements: false }),
  outages: poolerOutages,
  tests(topology) {
    test("a pooler that keeps no prepared statements is noticed, and each process says so once", () => {
      const said = timesUnprepared(topology());
      expect(said).toEqual(said.map(() => 1));
    });

    test("what our transactions set ends with them: the next one on the connection finds the defaults", async () => {
      const { pooler, system } = topology();
      const look = `SELECT ${ours.map((name) => `current_setting('${name}') AS ${name}`).join(", ")}, pg_sleep(0.05)::text`;
      const [defaults] = await system.sql.unsafe(look);
      const sql = postgres(pooler.url, { max: 4, prepare: false, onnotice: () => {} });
      const seen = await inParallel(20, 4, () => sql.unsafe(look).then(([row]) => row));
      await sql.end();
      expect(seen).toEqual(seen.map(() => defaults));
    });

    test("a statement that waits too long is answered 503, and ends on the server behind the pooler too", async () => {
      const { apis, system } = topology();
      // The sweep of the workers meets the lock too, and tries again.
      const waiting = async () => {
        const rows = await system.sql<{ one: string }[]>`
          SELECT pid || ' ' || query_start AS one FROM pg_stat_activity
          WHERE wait_event_type = 'Lock' AND query LIKE '%WITH queue_defaults AS%'`;
        return rows.map(({ one }) => one);
      };
      await system.sql.begin(async (lock) => {
        await lock`LOCK TABLE atlasqueue.jobs IN EXCLUSIVE MODE`;
        const asked = ask(apis[0]?.url ?? "", "POST", "/v1/jobs", { type: "topology.step" });
        const met = await eventually(async () => {
          const found = await waiting();
          return found.length > 0 && found;
        });
        expect(await asked).toMatchObject({ status: 503, retry_after: expect.any(String) });
        await eventually(async () => expect((await waiting()).filter((one) => met.includes(one))).toEqual([]));
      });
    });

    test("where transactions are serializable by default, the start is refused until the server is told otherwise", async () => {
      const { pooler, system } = topology();
      const created = await createDatabase(system.servers.postgres.url);
      const url = new URL(pooler.url);
      url.pathname = `/${created.name}`;
      const sql = postgres(created.url, { max: 1 });
      const say = (level: string) =>
        sql.unsafe(`ALTER DATABASE "${created.name}" SET default_transaction_isolation = '${level}'`);
      const start = async () => {
        const options = { url: url.href, connectionsMax: 2, timeoutMs: 10_000, preparedStatements: false };
        const database = connectDatabase(options);
        await requirePostgres(database).finally(() => database.close());
      };
      await say("serializable");
      await expect(start()).rejects.toThrow("ALTER ROLE … SET default_transaction_isolation = 'read committed'");
      await say("read committed");
      // Connections that the pooler has open know nothing of it.
      await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
      await eventually(() => start());
      await sql.end();
    });

    test("two queues share an application's database behind it, beside tables of the same names", async () => {
      const { postgres: server, redis } = topology().system.servers;
      const application = await applicationsDatabase(server.url);
      const pooler = await pgBouncer(application.url, { pool_size: 4 });
      onTestFinished(() => pooler.stop());
      await twoQueues(application, pooler.url, redis.url);
    });

    test("migrations run through it", async () => {
      const { pooler, system } = topology();
      const created = await createDatabase(system.servers.postgres.url);
      const url = new URL(pooler.url);
      url.pathname = `/${created.name}`;
      await migrateDatabase(url.href);
      const sql = postgres(created.url, { max: 1 });
      expect(await sql`SELECT count(*)::int AS n FROM atlasqueue.jobs`).toEqual([{ n: 0 }]);
      await sql.end();
    });
  },
});
