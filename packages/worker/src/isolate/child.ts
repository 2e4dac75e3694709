import { Worker } from "node:worker_threads";
import type { Json } from "@atlasqueue/contract";
import { createLogger, type Lease, type LogLevel } from "@atlasqueue/core";
import { Context } from "../context.ts";
import { handlersOf } from "../handler.ts";
import { abort, lazyAbort, type LazyAbort } from "../lazy-abort.ts";
import { failed, succeeded, type Outcome } from "../outcome.ts";
import type { FromChild, Task, ToChild } from "./messages.ts";

// The other side of child-pool.ts: one job at a time, in a process that may be killed at any moment.
const tell = (message: FromChild) => void process.send?.(message);

// A worker that drains lets its handlers finish, though a terminal or a service manager signals the whole group.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.on("disconnect", () => process.exit());
// A handler that spins never hears that; a thread of its own sees that the worker is gone.
const watchdog = `const worker = process.ppid;
  setInterval(() => { if (process.ppid !== worker) process.kill(process.pid, "SIGKILL"); }, 1000);`;
new Worker(watchdog, { eval: true, execArgv: [] }).unref();

let current: { run: number; lazy: LazyAbort } | undefined;
process.on("message", (message: ToChild) => {
  if (message.kind === "abort") {
    // It may have ended meanwhile, and the next have begun.
    if (current?.run === message.run) abort(current.lazy, new Error(message.reason));
    return;
  }
  const lazy = lazyAbort();
  current = { run: message.run, lazy };
  const { run } = message;
  void runTask(message.task, lazy, run).then((outcome) => tell({ run, kind: "outcome", outcome }));
});

async function runTask({ module, lease, log_level }: Task, lazy: LazyAbort, run: number): Promise<Outcome> {
  try {
    const handler = handlersOf((await import(module)) as object, module).find(({ type }) => type === lease.type);
    if (!handler) throw new Error(`${module} exports no handler for type ${JSON.stringify(lease.type)}`);
    const hearing = {
      logger: createLogger(log_level as LogLevel, "", { write: (line) => tell({ run, kind: "logged", line }) }),
      progress: (_lease: Lease, progress: Json) => tell({ run, kind: "progress", progress }),
      // Told line by line, as the end may come without a word.
      log: (line: string) => tell({ run, kind: "line", line }),
    };
    tell({ run, kind: "begun" });
    return succeeded(handler, await handler.run(lease.payload, new Context(lease, lazy, hearing)));
  } catch (thrown) {
    return failed(thrown);
  }
}
