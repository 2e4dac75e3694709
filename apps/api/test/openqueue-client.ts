import {
  type OpenQueueError,
  type OpenQueueJob,
  type OpenQueueLease,
  type OpenQueueSubmitInput,
  openQueueError,
  openQueueJob,
  openQueueJobPage,
  openQueueLease,
  openQueueQueues,
  openQueueSubmitted,
} from "@atlasqueue/contract";
import { expect } from "vitest";
import type { testApp } from "./test-app.ts";

type Held = NonNullable<OpenQueueLease>;

/** The app as OpenQueue's own clients call it. What is answered is held against the wire schemas. */
export function openQueueClient(api: Pick<Awaited<ReturnType<typeof testApp>>, "app">) {
  const send = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.app.request(`http://localhost${path}`, {
      method,
      // Theirs say JSON with every request, those without a body as well.
      headers: { "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  const read = async (response: Response, status = 200): Promise<unknown> => {
    expect(response.status, await response.clone().text()).toBe(status);
    return response.json();
  };
  const lease = async (queue: string): Promise<OpenQueueLease> =>
    openQueueLease.parse(await read(await send("POST", `/queues/${queue}/lease`, { worker_id: "w1" })));
  return {
    send,
    read,
    lease,
    submit: async (job: OpenQueueSubmitInput): Promise<string> =>
      openQueueSubmitted.parse(await read(await send("POST", "/jobs", job), 201)).job_id,
    leaseOne: async (queue: string): Promise<Held> => {
      const held = await lease(queue);
      if (!held) throw new Error("nothing was leased");
      return held;
    },
    settle: (what: "ack" | "nack" | "heartbeat", { job, lease_token }: Held, fields: object = {}) =>
      send("POST", `/jobs/${job.id}/${what}`, { lease_token, ...fields }),
    detail: async (id: string): Promise<OpenQueueJob> =>
      openQueueJob.parse(await read(await send("GET", `/jobs/${id}/detail`))),
    list: async (query = "") => openQueueJobPage.parse(await read(await send("GET", `/jobs${query}`))),
    queues: async () => openQueueQueues.parse(await read(await send("GET", "/dashboard/queues"))),
    cancel: (id: string) => send("POST", `/jobs/${id}/cancel`),
    errorOf: async (response: Response, status: number): Promise<OpenQueueError["detail"]> => {
      expect(response.headers.get("content-type")).toBe("application/json");
      return openQueueError.parse(await read(response, status)).detail;
    },
  };
}
