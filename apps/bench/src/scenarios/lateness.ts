import { percentile } from "../run/statistics.ts";
import { makePayload } from "../run/payload.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "./scenario.ts";

const jobs = 200;
const ahead_ms_min = 100;
const ahead_ms_max = 3_000;

/** Jobs scheduled for the next three seconds: from `run_at` to the handler's first line. */
export const lateness: Scenario = {
  name: "lateness",
  minutes: 1,
  suits: onlyOurs,
  async run(variant, servers) {
    const ours = oursOf(variant);
    const due: number[] = [];
    const late: number[] = [];
    const all = Promise.withResolvers<void>();
    const handle = ({ n }: { n: number }) => {
      late.push(now() - (due[n] ?? NaN));
      if (late.length === jobs) all.resolve();
    };
    const dueOf = (n: number) => {
      const ahead_ms = ahead_ms_min + ((ahead_ms_max - ahead_ms_min) * n) / (jobs - 1);
      const at = new Date(Math.round(now() + ahead_ms));
      due[n] = at.getTime();
      return at;
    };
    const queue = await ours.open(servers, { dueOf });
    const worker = await ours.startWorker(servers, { queue: "default", handle, succeeded() {} });
    try {
      await queue.addMany(Array.from({ length: jobs }, (_, n) => makePayload(n)));
      await all.promise;
      return [50, 99].map((p): Figure => {
        return { scenario: `lateness p${p}`, unit: "ms", value: percentile(late, p) };
      });
    } finally {
      await worker.stop();
      await queue.close();
    }
  },
};

/** The time of day with the resolution of a stopwatch. */
const now = () => performance.timeOrigin + performance.now();
