import postgres from "postgres";
import { expect, test } from "vitest";
import { poolerOutages, startBehindPooler, timesUnprepared } from "./harness/behind-pooler.ts";
import { coreSuite } from "./harness/core-suite.ts";

coreSuite({
  start: () => startBehindPooler({ keeps_statements: true }),
  outages: poolerOutages,
  tests(topology) {
    test("each process goes on preparing its statements", () => {
      const said = timesUnprepared(topology());
      expect(said).toEqual(said.map(() => 0));
    });

    test("the pooler keeps them on the connections of the server", async () => {
      const sql = postgres(topology().pooler.url, { max: 1, prepare: false, onnotice: () => {} });
      const [row] = await sql`SELECT count(*)::int AS kept FROM pg_prepared_statements WHERE name LIKE 'PGBOUNCER%'`;
      await sql.end();
      expect(row?.["kept"]).toBeGreaterThan(0);
    });
  },
});
