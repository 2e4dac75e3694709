import { setTimeout as delay } from "node:timers/promises";
import { median } from "../run/statistics.ts";
import { startCells, type System } from "./start-cells.ts";

const tenants = 4;
/** Of each tenant: a load that leaves a third of two cores free. */
const requests_per_second = 25;
/** Of a request. */
const batch = 10;
const pairs = 6;

/**
 * The processor time of a job, of all servers and programs: four tenants in one cell, and each in a cell of its own on the
 * same server. In turns, the order changing each time. `seconds` are of one measurement.
 */
export async function cpu(seconds: number, tell: (line: string) => void): Promise<void> {
  const wish = { servers: 1, tenants, apis: 1, workers: 1 };
  const systems = { one: await startCells({ ...wish, cells: 1 }), four: await startCells({ ...wish, cells: tenants }) };
  try {
    for (const system of Object.values(systems)) await cpuOfJob(system, 2);
    const took: Record<keyof typeof systems, number[]> = { one: [], four: [] };
    for (let pair = 0; pair < pairs; pair += 1)
      for (const name of pair % 2 === 0 ? (["one", "four"] as const) : (["four", "one"] as const)) {
        const us = await cpuOfJob(systems[name], seconds / pairs);
        took[name].push(us);
        tell(`${name}: ${us.toFixed(0)} µs of CPU a job`);
      }
    const ratios = took.four.map((us, pair) => us / (took.one[pair] ?? NaN));
    tell(
      `CPU of a job: ${median(took.one).toFixed(0)} µs in one cell, ${median(took.four).toFixed(0)} in four; ratio of ${pairs} ` +
        `pairs: median ${median(ratios).toFixed(3)}, from ${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`,
    );
  } finally {
    await Promise.all(Object.values(systems).map((system) => system.stop()));
  }
}

/** Submits for so many seconds, each request at its time, and waits until all of it has run. */
async function cpuOfJob(system: System, seconds: number): Promise<number> {
  const [before, handled, began] = [await system.cpuSeconds(), system.handled(), performance.now()];
  const send = async (tenant: number) => {
    const answer = await system.submit(tenant, batch);
    if (answer.status !== 200 && answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  const sent: Promise<void>[] = [];
  // One tenant after the other: requests that come at once would share a commit in one cell, and never in four.
  const per_second = requests_per_second * tenants;
  for (let at = 0; at < seconds * per_second; at += 1) {
    await delay(Math.max(0, began + (at / per_second) * 1_000 - performance.now()));
    sent.push(send(at % tenants));
  }
  await Promise.all(sent);
  const submitted = sent.length * batch;
  while (system.handled() - handled < submitted) await delay(20);
  return (((await system.cpuSeconds()) - before) * 1e6) / submitted;
}
