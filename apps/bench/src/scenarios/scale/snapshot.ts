import postgres from "postgres";
import type { Rate } from "../../costs/meter.ts";
import { startSteadyLoad } from "../../run/steady-load.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "../scenario.ts";

const in_flight = 500;
const warm_up_seconds = 2;
const seconds_before_max = 60;
/** Of the time that it is open: each has its rate. */
const parts = 10;

/** The limit of a limited queue. */
const concurrency = 100;

/**
 * Adding and processing under way, while a REPEATABLE READ transaction keeps every dead row from being cleaned up: the
 * rate before, while it is open, and in each tenth of that time. `limited` says whether the queue has a limit.
 */
const snapshotScenario = (limited: boolean): Scenario => ({
  name: limited ? "snapshot-limited" : "snapshot",
  suits: onlyOurs,
  rounds_max: 1,
  minutes: 12,
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
        const without = await load.rateOver(Math.min(seconds_before_max, seconds / 4));
        const points: Figure[] = [pointOf(name, 0, without)];
        const during = await sql.begin("ISOLATION LEVEL REPEATABLE READ", async (tx) => {
          // The snapshot is taken by the first statement.
          await tx`SELECT count(*) FROM pg_class`;
          const before = load.handled();
          const whole = await meter.start();
          for (let part = 1; part <= parts; part += 1)
            points.push(pointOf(name, (seconds / parts) * part, await load.rateOver(seconds / parts)));
          return whole.end(load.handled() - before);
        });
        const last = points.at(-1)?.value ?? NaN;
        return [
          { scenario: `${name}, no snapshot`, ...without },
          { scenario: `${name}, snapshot open`, ...during },
          { scenario: `${name}: snapshot open ÷ none`, unit: "×", value: during.value / without.value },
          { scenario: `${name}: snapshot's last tenth ÷ none`, unit: "×", value: last / without.value },
          ...points,
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

function pointOf(name: string, seconds: number, rate: Rate): Figure {
  const curve = { name: `${name} while a snapshot is open`, by: "seconds", x: seconds };
  return { scenario: `${name}, snapshot of ${seconds} s`, ...rate, curve };
}

export const snapshots = [snapshotScenario(false), snapshotScenario(true)];
