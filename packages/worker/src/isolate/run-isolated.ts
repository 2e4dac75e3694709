import type { Lease, Logger } from "@atlasqueue/core";
import type { Context, Hearing } from "../context.ts";
import type { Handler } from "../handler.ts";
import type { Outcome } from "../outcome.ts";
import type { ChildPool } from "./child-pool.ts";

/** Whether it asked for a process of its own. */
export function isIsolated({ options }: Handler): boolean {
  return options.isolate !== undefined && options.isolate !== false;
}

/** Run a handler in a child process, and do here what it says there. `started` is called when it has got one. */
export function runIsolated(
  children: ChildPool,
  handler: Handler,
  lease: Lease,
  context: Context,
  hearing: Hearing,
  started: () => void,
): Promise<Outcome> {
  const task = { module: handler.module ?? "", lease, log_level: context.logger.level };
  return children.run(task, {
    signal: context.signal,
    started,
    hear(word) {
      switch (word.kind) {
        case "logged":
          return relay(context.logger, word.line);
        case "line":
          return context.log(word.line);
        case "progress":
          return hearing.progress(lease, word.progress);
        default:
          word satisfies never;
      }
    },
  });
}

const levels = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

/** A line of the child's logger, as one of ours: it carries the job already, as both loggers are the job's. */
function relay(logger: Logger, line: string): void {
  const { level, msg, ...rest } = JSON.parse(line) as LogLine;
  const fields = Object.entries(rest).filter(([name]) => !ours.has(name));
  logger[levels.find((known) => known === level) ?? "info"](Object.fromEntries(fields), msg);
}
const ours = new Set(["time", "service", "job_id", "job_type", "attempt"]);
type LogLine = Record<string, unknown> & { level: string; msg?: string };
