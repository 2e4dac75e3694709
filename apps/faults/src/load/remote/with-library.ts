import { DoNotRetryError, type Client, type RemoteWorker } from "@atlasqueue/client";
import type { History } from "../../history/open-history.ts";
import type { LoadConfig } from "../config.ts";
import { queues } from "../kinds.ts";
import { perform } from "../perform.ts";
import { task } from "../task.ts";

/** Whose jobs, of which queue, over the way to which API. */
export type Place = { tenant: string; queue: string; api: string; client: Client };

const concurrency = 5;
const wait_seconds = 5;
/** Jobs of a group that one lease after the other is given with the ack of the one before. */
const run_max = 20;

/** What it is called, to the API and in the history. */
export const libraryWorker = ({ process: name }: LoadConfig, { tenant, queue }: Omit<Place, "client">): string =>
  `${name}-${tenant}-${queue}`;

/** A worker as users of the client library run it. */
export function workWithLibrary(history: History, config: LoadConfig, place: Place): RemoteWorker {
  const { queue, client } = place;
  const worker = libraryWorker(config, place);
  return client.work(
    queue,
    (payload, { job, signal, spawn, waitFor }) => {
      const { id, type, attempts: attempt } = job;
      const what = { worker, remote: true, job: { id, type, queue, attempt }, signal, spawn, waitFor };
      return perform(history, task.parse(payload), what, DoNotRetryError);
    },
    {
      workerId: worker,
      concurrency,
      leaseSeconds: config.lease_ms / 1_000,
      waitSeconds: wait_seconds,
      runMax: queue === queues.grouped ? run_max : 1,
      observe: () => {},
    },
  );
}
