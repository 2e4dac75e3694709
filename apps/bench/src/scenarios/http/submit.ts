import { loadOverHttp } from "../../run/http-load.ts";
import { makePayload } from "../../run/payload.ts";
import type { Scenario } from "../scenario.ts";

const warm_up_seconds_max = 1;

/** POST /v1/jobs, each with its own key, over a number of connections that each send one request at a time. */
export function httpScenario(connections: number): Scenario {
  return {
    name: `http-${connections}`,
    minutes: 2,
    suits: ({ serve }) => serve !== undefined,
    async run(variant, servers, effort, meter) {
      if (!variant.serve) throw new Error(`${variant.name} has no HTTP`);
      const server = await variant.serve(servers);
      const post = (jobs: number, seconds_max: number): Promise<number> => {
        const end = performance.now() + seconds_max * 1_000;
        return loadOverHttp({
          url: server.url,
          connections,
          bodyOf: (n) => JSON.stringify({ type: "noop", payload: makePayload(n) }),
          goOn: (sent) => sent < jobs && performance.now() < end,
        });
      };
      try {
        const jobs = Math.ceil(effort.jobs * variant.share);
        await post(jobs, Math.min(warm_up_seconds_max, effort.seconds_max));
        // What the load costs is nobody's.
        const measurement = await meter.start([server.pid]);
        const rate = await measurement.end(await post(jobs, effort.seconds_max));
        return [{ scenario: `HTTP submit, ${connections} connections`, ...rate }];
      } finally {
        await server.stop();
      }
    },
  };
}
