import postgres from "postgres";
import { startSteadyLoad } from "../run/steady-load.ts";
import { onlyOurs, type Scenario } from "./scenario.ts";

const in_flight = 500;
const warm_up_seconds = 2;
/** Of the time that `snapshot` holds one: its rate is the same from the first second on. */
const part = 0.1;

/** How often each kind of transaction is opened. */
const order = ["foreign", "ours", "ours", "foreign"] as const;

/** What each kind of transaction writes before it stays open. */
const write: Record<(typeof order)[number], (tx: postgres.ReservedSql) => Promise<unknown>> = {
  foreign: (tx) => tx`INSERT INTO of_the_application VALUES (1)`,
  ours: async (tx) => {
    for (const options of ['{"idempotency_key": "k"}', '{"unique": {"on_conflict": "reject"}}', '{"group": "g"}', "{}"])
      await tx`SELECT atlasqueue.submit('later', '{}', ${options}::text::jsonb)`;
    await tx`SELECT atlasqueue.submit_flow('[{"type": "later", "ref": "a"}, {"type": "later", "depends_on": ["a"]}]')`;
  },
};

/**
 * Adding and processing under way, while an application's transaction stays open for a tenth of `--snapshot-seconds`: one
 * that submitted jobs with a key, unique, in a group and in a flow, against one that wrote a row of the application's own.
 */
export const openTransaction: Scenario = {
  name: "open-transaction",
  suits: onlyOurs,
  rounds_max: 1,
  minutes: 5,
  seconds_max: ({ snapshot_seconds }) => snapshot_seconds + 60,
  async run(variant, servers, { snapshot_seconds }, meter) {
    const queue = await variant.open(servers);
    const sql = postgres(servers.postgres, { max: 1, fetch_types: false });
    try {
      await sql`CREATE TABLE of_the_application (id integer)`;
      const load = await startSteadyLoad(queue, meter, in_flight);
      const rates = { foreign: [] as number[], ours: [] as number[] };
      try {
        await load.rateOver(warm_up_seconds);
        for (const kind of order) {
          const tx = await sql.reserve();
          await tx`BEGIN`;
          await write[kind](tx);
          rates[kind].push((await load.rateOver(snapshot_seconds * part)).value);
          await tx`ROLLBACK`;
          tx.release();
        }
      } finally {
        await load.stop();
      }
      const mean = (all: readonly number[]) => all.reduce((sum, one) => sum + one, 0) / all.length;
      const [ours, foreign] = [mean(rates.ours), mean(rates.foreign)];
      return [
        { scenario: "add and process, a foreign row uncommitted", unit: "per second", value: foreign },
        { scenario: "add and process, jobs uncommitted", unit: "per second", value: ours },
        { scenario: "jobs uncommitted ÷ a foreign row", unit: "×", value: ours / foreign },
      ];
    } finally {
      await queue.close();
      await sql.end({ timeout: 1 });
    }
  },
};
