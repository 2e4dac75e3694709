import { openHttpConnection, type HttpConnection } from "../run/http-connection.ts";
import { makeBatches } from "../run/payload.ts";
import { onlyOurs, type Scenario } from "./scenario.ts";

/** The parts of the answers the client reads. */
type LeaseAnswer = { jobs: { job: { id: string }; lease_token: string }[] };
type SettleAnswer = { acks: { outcome: string }[] };

const workers = 4;
const batch_jobs = 100;
const add_jobs = 1_000;

/**
 * Jobs that remote workers lease over HTTP, a hundred at a time, and settle with one call per hundred: all are there,
 * then the workers start, and the clock runs until the last one is settled. A quarter goes first, untimed.
 */
export const remote: Scenario = {
  name: "remote",
  minutes: 3,
  suits: onlyOurs,
  async run(variant, servers, { jobs }, meter) {
    if (!variant.serve) throw new Error(`${variant.name} has no HTTP`);
    const queue = await variant.open(servers);
    const add = async (count: number) => {
      for (const batch of makeBatches(count, add_jobs)) await queue.addMany(batch);
    };
    const api = await variant.serve(servers);
    const connections: HttpConnection[] = [];
    try {
      for (let at = 0; at < workers; at += 1) connections.push(await openHttpConnection(api.url));
      await add(Math.ceil(jobs / 4));
      await drain(connections);
      await add(jobs);
      const measurement = await meter.start([api.pid]);
      const settled = await drain(connections);
      const rate = await measurement.end(settled);
      if (settled !== jobs) throw new Error(`${settled} jobs of ${jobs} were settled`);
      return [{ scenario: "remote: lease + settle in batches of 100", ...rate }];
    } finally {
      for (const connection of connections) connection.close();
      await api.stop();
      await queue.close();
    }
  },
};

/** A worker on each connection, until nothing is left. Returns how many jobs they settled. */
async function drain(connections: readonly HttpConnection[]): Promise<number> {
  let settled = 0;
  const work = async (connection: HttpConnection, number: number): Promise<void> => {
    const request = JSON.stringify({ worker_id: `remote-${number}`, max_jobs: batch_jobs });
    for (;;) {
      const { jobs } = JSON.parse(await connection.post("/v1/queues/default/lease", request)) as LeaseAnswer;
      if (jobs.length === 0) return;
      const acks = jobs.map(({ job, lease_token }) => ({ id: job.id, lease_token, result: null }));
      const answer = await connection.post("/v1/leases/settle", JSON.stringify({ acks }));
      const outcomes = (JSON.parse(answer) as SettleAnswer).acks;
      settled += outcomes.filter(({ outcome }) => outcome === "succeeded").length;
    }
  };
  await Promise.all(connections.map(work));
  return settled;
}
