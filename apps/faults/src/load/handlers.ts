import { defineHandler, DoNotRetryError, type Handler } from "@atlasqueue/worker";
import { openHistory } from "../history/open-history.ts";
import { kinds } from "./kinds.ts";
import { readLoadConfig } from "./config.ts";
import { perform } from "./perform.ts";
import { noteStandstills } from "./noted-standstills.ts";
import { task } from "./task.ts";

// Loaded by the worker program (WORKER_HANDLERS), and again by each of the processes that run isolated handlers.
const config = readLoadConfig();
const history = openHistory(config.history, config.process);
// An isolated handler's process has a channel to its worker, and takes no jobs itself.
if (process.channel === undefined) noteStandstills(history, config);

/** One for each kind of job; they all do what the payload says. */
export const handlers: readonly Handler[] = kinds.map((kind) =>
  defineHandler(
    kind,
    task,
    (payload, { job, signal, spawn, waitFor }) =>
      perform(
        history,
        payload,
        { worker: config.process, remote: false, job, signal, spawn, waitFor },
        DoNotRetryError,
      ),
    { isolate: config.isolate },
  ),
);
