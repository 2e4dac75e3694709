import { Worker } from "node:worker_threads";
import type { Json, TraceContext } from "@atlasqueue/contract";
import { createLogger, type LogLevel } from "@atlasqueue/core";
import type { Lease } from "@atlasqueue/core/internal/worker";
import { parentChannel } from "@atlasqueue/program/process-channel";
import { abort, failed, lazyAbort, succeeded, type Ending, type LazyAbort } from "@atlasqueue/runtime";
import { Context } from "../run/context.ts";
import { handlerFor, handlersByType, handlersOf, keptResult } from "../handler.ts";
import { captureOutput } from "../output/capture-output.ts";
import { jobOutput } from "../output/job-output.ts";
import type { FromChild, Task, ToChild, Up } from "./messages.ts";
import { remoteStore } from "./remote-store.ts";

// The other side of child-pool.ts: one job at a time, in a process that may be killed at any moment.

// A draining worker lets its handlers finish, although a terminal or a service manager signals the whole group.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
// A spinning handler never hears that its worker is gone; a separate thread notices.
const watchdog = `const worker = process.ppid;
  setInterval(() => { if (process.ppid !== worker) process.kill(process.pid, "SIGKILL"); }, 1000);`;
new Worker(watchdog, { eval: true, execArgv: [] }).unref();
captureOutput();

const logged_chars_max = 65_536;

type Current = { run: number; lazy: LazyAbort } & ReturnType<typeof remoteStore>;
let current: Current | undefined;
const worker = parentChannel({
  hear(heard) {
    // Only a worker holds the other end.
    const message = heard as ToChild;
    if (message.kind === "abort") {
      // It may have ended meanwhile, and the next have begun.
      if (current?.run === message.run) abort(current.lazy, new Error(message.reason));
      return;
    }
    if (message.kind === "answer") {
      if (current?.run === message.run) current.answered(message.ask, message.answer);
      return;
    }
    const lazy = lazyAbort();
    const tell = (said: FromChild["said"]) => worker.send({ run: message.run, said } satisfies FromChild);
    current = { run: message.run, lazy, ...remoteStore(lazy, (asked) => tell({ kind: "ask", ...asked })) };
    void runTask(message.task, current, tell).then((outcome) => tell({ kind: "outcome", outcome }));
  },
  closed: () => process.exit(),
});
worker.send({ up: true } satisfies Up);

/** With the attempt's span active, for an SDK that the handler's module or NODE_OPTIONS has loaded here. */
async function contextOf(trace: TraceContext): Promise<<T>(work: () => T) => T> {
  const { activeIn } = await import("@atlasqueue/core/opentelemetry");
  return (work) => activeIn(trace, work);
}

/** A line of its logger may have any length, and a message to the worker may not: the beginning of a long one is sent. */
function shortened(line: string): string {
  if (line.length <= logged_chars_max) return line;
  const level = /"level":"(\w+)"/.exec(line.slice(0, 100))?.[1];
  return JSON.stringify({ level, cut_at_chars: logged_chars_max, msg: line.slice(0, logged_chars_max) });
}

async function runTask(
  { module, lease, log_level, trace }: Task,
  { lazy, sources }: Current,
  tell: (said: FromChild["said"]) => void,
): Promise<Ending> {
  const output = jobOutput((stream, line) => tell({ kind: "output", stream, line }));
  try {
    const handler = handlerFor(handlersByType(handlersOf((await import(module)) as object, module)), lease.type);
    if (!handler) throw new Error(`${module} exports no handler for type ${JSON.stringify(lease.type)}`);
    const sinks = {
      logger: createLogger(log_level as LogLevel, "", {
        write: (line) => tell({ kind: "logged", line: shortened(line) }),
      }),
      progress: (_lease: Lease, progress: Json) => tell({ kind: "progress", progress } as FromChild["said"]),
      output: () => {},
      sources: () => sources,
      // Sent line by line, as the end may come without warning.
      log: (line: string) => tell({ kind: "line", line }),
    };
    tell({ kind: "begun" });
    const context = new Context(lease, lazy, sinks);
    const run = () => output.of(() => handler.run(lease.payload, context));
    const returned = await (trace ? (await contextOf(trace))(run) : run());
    return succeeded(keptResult(handler, returned), context.spawned);
  } catch (thrown) {
    return failed(thrown);
  } finally {
    output.end();
  }
}
