import postgres from "postgres";
import { startSteadyLoad } from "../run/steady-load.ts";
import { onlyOurs, oursOf, type Scenario } from "./scenario.ts";

const in_flight = 500;
const warm_up_seconds = 2;

/** The limit of a limited queue. */
const concurrency = 100;

/**
 * Adding and processing under way, while a REPEATABLE READ transaction keeps every dead row from being cleaned up: the
 * rate before, while it is open, and in the last quarter of that time. `limited` says whether the queue has a limit.
 */
const snapshotScenario = (limited: boolean): Scenario => ({
  name: limited ? "snapshot-limited" : "snapshot",
  suits: onlyOurs,
  seconds_max: ({ snapshot_seconds }) => snapshot_seconds * 2 + 60,
  async run(variant, servers, { snapshot_seconds: seconds }, meter) {
    const queue = await variant.open(servers);
    if (limited) await oursOf(variant).limit(servers, { queue: "default" }, { concurrency });
    const name = limited ? "add and process, limited" : "add and process";
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
          { scenario: `${name}, no snapshot`, ...without },
          { scenario: `${name}, snapshot open`, ...during },
          { scenario: `${name}, snapshot's last quarter`, ...last },
          { scenario: `${name}: snapshot open ÷ none`, unit: "×", value: during.value / without.value },
          { scenario: `${name}: snapshot's last quarter ÷ none`, unit: "×", value: last.value / without.value },
        ];
      } finally {
        await load.stop();
      }
    } finally {
      await queue.close();
      await sql.end({ timeout: 1 });
    }
  },
});

export const snapshots = [snapshotScenario(false), snapshotScenario(true)];
