import { loadOverHttp } from "../run/http-load.ts";
import { makePayload } from "../run/payload.ts";
import type { Scenario } from "./scenario.ts";

const warm_up_seconds_max = 1;

/** POST /v1/jobs, each with its own key, over a number of connections that each send one request at a time. */
export function httpScenario(connections: number): Scenario {
  return {
    name: `http-${connections}`,
    suits: ({ serve }) => serve !== undefined,
    async run(variant, servers, effort) {
      if (!variant.serve) throw new Error(`${variant.name} has no HTTP`);
      const server = await variant.serve(servers);
      const post = async (jobs: number, seconds_max: number): Promise<number> => {
        const start = performance.now();
        const end = start + seconds_max * 1_000;
        const answered = await loadOverHttp({
          url: server.url,
          connections,
          bodyOf: (n) => JSON.stringify({ type: "noop", payload: makePayload(n) }),
          goOn: (sent) => sent < jobs && performance.now() < end,
        });
        return (answered / (performance.now() - start)) * 1_000;
      };
      try {
        const jobs = Math.ceil(effort.jobs * variant.share);
        await post(jobs, Math.min(warm_up_seconds_max, effort.seconds_max));
        const value = await post(jobs, effort.seconds_max);
        return [{ scenario: `HTTP submit, ${connections} connections`, unit: "per second", value }];
      } finally {
        await server.stop();
      }
    },
  };
}
