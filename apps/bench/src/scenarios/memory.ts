import { loadOverHttp } from "../run/http-load.ts";
import { residentMb } from "../costs/process-usage.ts";
import { median } from "../run/statistics.ts";
import { makePayload } from "../run/payload.ts";
import { onlyOurs, oursOf, type Figure, type Scenario } from "./scenario.ts";

const connections = 50;
const sample_ms = 100;
const marks = [10, 50, 100];
/** A figure is the median of the samples since this part of its mark, as garbage comes and goes. */
const window = 0.9;

type Sample = { handled: number; api: number; worker: number };

/** What an API process and a worker process hold in memory on the way through many jobs, submitted over HTTP. */
export const memory: Scenario = {
  name: "memory",
  rounds_max: 1,
  minutes: 6,
  suits: onlyOurs,
  seconds_max: ({ memory_jobs }) => 60 + memory_jobs / 1_000,
  async run(variant, servers, { memory_jobs: jobs }) {
    let handled = 0;
    const all = Promise.withResolvers<void>();
    const deployed = await oursOf(variant).startDeployed(servers, {
      handled(count) {
        handled = count;
        if (handled >= jobs) all.resolve();
      },
    });
    const samples: Sample[] = [];
    const sample = async () => {
      const [api, worker] = await Promise.all([residentMb(deployed.api.pid), residentMb(deployed.worker.pid)]);
      samples.push({ handled, api, worker });
    };
    // Looking at a process that is gone fails; the load says why.
    const sampling = setInterval(() => void sample().catch(() => {}), sample_ms);
    try {
      await sample();
      const bodyOf = (n: number) => JSON.stringify({ type: "noop", payload: makePayload(n) });
      await loadOverHttp({ url: deployed.api.url, connections, bodyOf, goOn: (sent) => sent < jobs });
      await all.promise;
      await sample();
      return (["worker", "api"] as const).flatMap((process) =>
        marks.map((percent): Figure => {
          const value = memoryAt(samples, process, (percent / 100) * jobs);
          return { scenario: `${process} memory at ${percent} %`, unit: "MB", value };
        }),
      );
    } finally {
      clearInterval(sampling);
      await deployed.stop();
    }
  },
};

function memoryAt(samples: readonly Sample[], process: "worker" | "api", handled: number): number {
  const before = samples.filter((one) => one.handled <= handled);
  const close = before.filter((one) => one.handled >= handled * window);
  return median((close.length > 0 ? close : before.slice(-1)).map((one) => one[process]));
}
