import { createCalls, type Calls, type ClientOptions } from "./calls.ts";
import {
  startRemoteWorker,
  type RemoteWorker,
  type WorkHandlers,
  type WorkOptions,
  type WorkQueues,
} from "./work/work.ts";

export type Client = Calls & {
  /**
   * Run the jobs of a queue, or of several as `{ mail: 20, reports: 2 }`, each with as many slots of its own, 1 to 1,000, in
   * this process: lease them, hand them to their handlers, renew the leases, settle. A
   * single function takes jobs of every type; a list of `defineHandler(…)`, those of its types. Throws a TypeError or
   * RangeError for invalid options; once started, nothing rejects, and while the API is away the worker waits for it.
   */
  work(queue: WorkQueues, handlers: WorkHandlers, options?: WorkOptions): RemoteWorker;
};

/**
 * A client of the HTTP API, on `fetch` alone. Nothing is sent until a call; there is nothing to close. Throws a
 * TypeError when the URL or the token is malformed.
 *
 * @example
 * const client = createClient({ url: "http://127.0.0.1:8000", token });
 * const handle = await client.submit({ type: "email.send", payload: { to: "ada@example.org" } });
 * console.log(handle.id, await handle.result({ timeoutMs: 30_000 }));
 */
export function createClient(options: ClientOptions): Client {
  const calls = createCalls(options);
  return {
    ...calls,
    work: (queue, handlers, workOptions) => startRemoteWorker(calls, queue, handlers, workOptions, options.tracing),
  };
}
