import postgres from "postgres";
import { startSteadyLoad } from "../run/steady-load.ts";
import { onlyOurs, type Scenario } from "./scenario.ts";

const in_flight = 500;
const warm_up_seconds = 2;

/**
 * Adding and processing under way, while a REPEATABLE READ transaction keeps every dead row from being cleaned up: the
 * rate before, while it is open, and in the last quarter of that time.
 */
export const snapshot: Scenario = {
  name: "snapshot",
  suits: onlyOurs,
  seconds_max: ({ snapshot_seconds }) => snapshot_seconds * 2 + 60,
  async run(variant, servers, { snapshot_seconds: seconds }, meter) {
    const queue = await variant.open(servers);
    const sql = postgres(servers.postgres, { max: 1, fetch_types: false });
    try {
      const load = await startSteadyLoad(queue, meter, in_flight);
      try {
        await load.rateOver(warm_up_seconds);
        const without = await load.rateOver(seconds / 4);
        const { during, last } = await sql.begin("ISOLATION LEVEL REPEATABLE READ", async (tx) => {
          // The snapshot is taken by the first statement.
          await tx`SELECT count(*) FROM pg_class`;
          const before = load.handled();
          const whole = await meter.start();
          await load.rateOver((seconds * 3) / 4);
          const quarter = await load.rateOver(seconds / 4);
          return { during: await whole.end(load.handled() - before), last: quarter };
        });
        return [
          { scenario: "add and process, no snapshot", ...without },
          { scenario: "add and process, snapshot open", ...during },
          { scenario: "add and process, snapshot's last quarter", ...last },
          { scenario: "snapshot open ÷ none", unit: "×", value: during.value / without.value },
          { scenario: "snapshot's last quarter ÷ none", unit: "×", value: last.value / without.value },
        ];
      } finally {
        await load.stop();
      }
    } finally {
      await queue.close();
      await sql.end({ timeout: 1 });
    }
  },
};
