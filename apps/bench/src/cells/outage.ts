import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "../run/statistics.ts";
import { startCells, times } from "./start-cells.ts";

/** A tenant's, in the four cells of two servers. */
const requests_per_second = 5;
const batch = 10;

type Answer = { tenant: number; ms: number; status: number; retry_after: string | null };

/**
 * Two servers with two cells each. One server is killed for `seconds`: how its tenants are answered, and the p99 of the
 * others' submissions before, meanwhile and after.
 */
export async function outage(seconds: number, tell: (line: string) => void): Promise<void> {
  const system = await startCells({ servers: 2, cells: 4, tenants: 4, apis: 2, workers: 3 });
  const answers: Answer[] = [];
  const send = async (tenant: number) => {
    const began = performance.now();
    const answer = await system.submit(tenant, batch);
    await answer.arrayBuffer();
    const { status, headers } = answer;
    answers.push({ tenant, status, ms: performance.now() - began, retry_after: headers.get("retry-after") });
  };
  /** Each request at its time, however late the ones before it are. */
  const load = async (name: string): Promise<number> => {
    answers.length = 0;
    const began = performance.now();
    const sent: Promise<void>[] = [];
    for (let at = 0; at < seconds * requests_per_second; at += 1) {
      await delay(Math.max(0, began + (at / requests_per_second) * 1_000 - performance.now()));
      sent.push(...times(4, send));
    }
    await Promise.all(sent);
    const others = answers.filter(({ tenant }) => tenant < 2);
    const p99 = percentile(
      others.map(({ ms }) => ms),
      99,
    );
    const statuses = (of: readonly Answer[]) =>
      [...Map.groupBy(of, ({ status, retry_after }) => `${status}${retry_after === null ? "" : " with Retry-After"}`)]
        .map(([status, some]) => `${status} × ${some.length}`)
        .join(", ");
    tell(
      `${name}: p99 ${p99.toFixed(1)} ms and ${statuses(others)} for tenants of the first server; ` +
        `${statuses(answers.filter(({ tenant }) => tenant >= 2))} for those of the second`,
    );
    return p99;
  };
  try {
    await load("warm-up");
    const before = await load("before");
    await system.servers[1]?.kill("SIGKILL");
    const meanwhile = await load("while the second server is down");
    await system.servers[1]?.restart();
    const after = await load("after");
    tell(
      `p99 while the other server is down ÷ before: ${(meanwhile / before).toFixed(2)}; ÷ after: ${(meanwhile / after).toFixed(2)}`,
    );
  } finally {
    await system.stop();
  }
}
