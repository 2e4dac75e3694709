import { job, leaseAnswer, type LeaseAnswer } from "@atlasqueue/contract";
import { expect } from "vitest";
import type { testApp } from "./test-app.ts";

/**
 * What a remote worker asks of an app, once it is there.
 *
 * @example
 * const { submit, leaseOne } = leaseCalls(() => api);
 */
export function leaseCalls(api: () => Awaited<ReturnType<typeof testApp>>) {
  const post = (path: string, body: object) => api().send("POST", `/v1${path}`, undefined, body);
  let made = 0;
  const submit = async (queue: string, fields: object = {}): Promise<string> =>
    job.parse(await (await api().post(`leases-${(made += 1)}`, JSON.stringify({ type: "a", queue, ...fields }))).json())
      .id;
  const lease = async (queue: string, fields: object = {}): Promise<LeaseAnswer["jobs"]> => {
    const response = await post(`/queues/${queue}/lease`, { worker_id: "remote-1", ...fields });
    expect(response.status, await response.clone().text()).toBe(200);
    return leaseAnswer.parse(await response.json()).jobs;
  };
  const leaseOne = async (queue: string, fields: object = {}) => {
    const [held] = await lease(queue, fields);
    if (!held) throw new Error("nothing was leased");
    return held;
  };
  return { post, submit, lease, leaseOne };
}
