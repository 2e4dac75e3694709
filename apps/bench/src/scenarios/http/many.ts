import type { Payload } from "../../variants/variant.ts";
import { openHttpConnection } from "../../run/http-connection.ts";
import { makeBatches } from "../../run/payload.ts";
import { loadStreams } from "../../run/stream-load.ts";
import { onlyOurs, type Scenario } from "../scenario.ts";

/** Jobs in one request, or in one write. */
const batch_jobs = 1_000;
/** Fewer would be over in a blink. */
const batches_min = 20;

/** How bodies are made of jobs under keys of their own, and sent. Resolves with how many were created. */
type Way = {
  bodyOf(jobs: readonly object[]): string;
  send(load: { url: string; connections: number; parts: readonly string[]; seconds_max: number }): Promise<number>;
};

const batches: Way = {
  bodyOf: (jobs) => JSON.stringify({ jobs }),
  async send({ url, connections, parts, seconds_max }) {
    const end = performance.now() + seconds_max * 1_000;
    let at = 0;
    let created = 0;
    const sendOn = async () => {
      const connection = await openHttpConnection(url);
      while (at < parts.length && performance.now() < end) {
        const answer = await connection.post("/v1/jobs/batch", parts[at++] as string);
        created += answer.split('"created":true').length - 1;
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: connections }, sendOn));
    return created;
  },
};

const streams: Way = {
  bodyOf: (jobs) => jobs.map((job) => `${JSON.stringify(job)}\n`).join(""),
  send: loadStreams,
};

/** POST /v1/jobs/batch with 1,000 jobs each. */
export const httpBatch = (connections: number) =>
  scenarioOf(`http-batch-${connections}`, "HTTP batches of 1,000", connections, batches);

/** POST /v1/jobs/stream, as fast as lines are taken. */
export const httpStream = (connections: number) =>
  scenarioOf(`http-stream-${connections}`, "HTTP stream", connections, streams);

function scenarioOf(name: string, title: string, connections: number, way: Way): Scenario {
  const shown = `${title}, ${connections} ${connections === 1 ? "connection" : "connections"}`;
  return {
    name,
    minutes: 1,
    suits: (variant) => onlyOurs(variant) && variant.serve !== undefined,
    async run(variant, servers, effort, meter) {
      if (!variant.serve) throw new Error(`${variant.name} has no HTTP`);
      const server = await variant.serve(servers);
      const post = (jobs: number, seconds_max: number, run: string) => {
        const parts = Array.from(makeBatches(jobs, batch_jobs), (payloads, at) =>
          way.bodyOf(payloads.map((payload, nth) => keyed(payload, `${run}-${at}-${nth}`))),
        );
        // Making them is not measured.
        return () => way.send({ url: server.url, connections, parts, seconds_max });
      };
      try {
        const jobs = Math.max(batch_jobs * batches_min, Math.ceil(effort.jobs * variant.share));
        await post(Math.ceil(jobs / 5), effort.seconds_max, "warm")();
        const go = post(jobs, effort.seconds_max, "measured");
        const measurement = await meter.start([server.pid]);
        const rate = await measurement.end(await go());
        return [{ scenario: shown, ...rate }];
      } finally {
        await server.stop();
      }
    },
  };
}

const keyed = (payload: Payload, idempotency_key: string) => ({ type: "noop", payload, idempotency_key });
