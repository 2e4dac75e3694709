import type { Job, LeaseAnswer, LeaseRequestInput } from "@atlasqueue/contract";

export type Held = LeaseAnswer["jobs"][number];
export type Answer = { status: number; ms: number; body: unknown };

/** One POST, as a worker in any language would send it; returns status, JSON and duration. */
export async function post(url: string, path: string, body?: object, signal?: AbortSignal): Promise<Answer> {
  const started = performance.now();
  const response = await fetch(`${url}/v1${path}`, {
    method: "POST",
    ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  return { status: response.status, body: await response.json(), ms: performance.now() - started };
}

/** Lease from the queue "default" unless told otherwise; throws for any status but 200. */
export async function lease(
  url: string,
  fields: Partial<LeaseRequestInput> & { queue?: string } = {},
  signal?: AbortSignal,
): Promise<Held[]> {
  const { queue = "default", ...body } = fields;
  const { status, body: answer } = await post(url, `/queues/${queue}/lease`, { worker_id: "remote", ...body }, signal);
  if (status !== 200) throw new Error(`a lease was answered ${status} ${JSON.stringify(answer)}`);
  return (answer as LeaseAnswer).jobs;
}

export const ack = (url: string, { job, lease_token }: Held, result: unknown = null) =>
  post(url, `/jobs/${job.id}/ack`, { lease_token, result });

/** Jobs of a type no local worker handles, in batches of a thousand. */
export async function createMany(url: string, count: number, fields: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1_000) {
    const jobs = Array.from({ length: Math.min(1_000, count - at) }, () => ({
      type: "remote",
      idempotency_key: crypto.randomUUID(),
      ...fields,
    }));
    const { status, body } = await post(url, "/jobs/batch", { jobs });
    if (status !== 201) throw new Error(`a batch was answered ${status} ${JSON.stringify(body)}`);
    ids.push(...(body as { jobs: Job[] }).jobs.map(({ id }) => id));
  }
  return ids;
}
