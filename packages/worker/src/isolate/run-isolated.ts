import { checkSpawned, errorData, spawnErrorOf, storableText, type Tracing } from "@atlasqueue/contract";
import type { Logger } from "@atlasqueue/core";
import type { Lease } from "@atlasqueue/core/internal/worker";
import { failed, succeeded, type Ending, type LazyAbort, type Sources } from "@atlasqueue/runtime";
import type { Context, Sinks } from "../run/context.ts";
import { keptResult, type Handler } from "../handler.ts";
import type { ChildPool } from "./child-pool.ts";
import type { SaidOutcome } from "./messages.ts";
import { answerAsk } from "./remote-store.ts";

/** Where the handlers of a worker run. */
export type Runtime = { sinks: Sinks; children: ChildPool; tracing?: Tracing | undefined };

/** Run a handler in a child process, and do here what it asks for there. `started` is called when it has one. */
export async function runIsolated(
  { children, sinks, tracing }: Runtime,
  handler: Handler,
  { lease, lazy, context, started }: { lease: Lease; lazy: LazyAbort; context: Context; started: () => void },
): Promise<Ending> {
  const task = { module: handler.module ?? "", lease, log_level: context.logger.level, trace: tracing?.active() };
  let sources: Sources | undefined;
  const said = await children.run(task, {
    signal: context.signal,
    started,
    hear(word, reply) {
      switch (word.kind) {
        case "logged":
          return relay(context.logger, word.line);
        case "output":
          return sinks.output(lease, word.stream, word.line);
        case "line":
          return context.log(word.line);
        case "progress":
          return sinks.progress(lease, word.progress);
        case "ask":
          sources ??= sinks.sources(lease, lazy);
          return void answerAsk(sources, word.of).then((answer) => reply(word.ask, answer));
        default:
          word satisfies never;
      }
    },
  });
  return storableOutcome(handler, said);
}

/** What the child made of it, checked once more: its handler may have forged it. */
function storableOutcome(handler: Handler, said: SaidOutcome): Ending {
  if (said.kind === "succeeded") {
    const checked = checkSpawned(said.spawned?.children ?? []);
    return checked.kind === "valid"
      ? succeeded(keptResult(handler, said.result), said.spawned)
      : failed(spawnErrorOf(checked.faults));
  }
  const { error, error_data, retryable, delay_ms } = said;
  const data = error_data === undefined ? undefined : errorData(Object.assign(new Error(), { data: error_data }));
  return { kind: "failed", error: storableText(error), error_data: data, retryable, delay_ms };
}

const levels = ["fatal", "error", "warn", "info", "debug", "trace"] as const;

/** A line of the child's logger, as one of ours: it already carries the job, as both loggers are the job's. */
function relay(logger: Logger, line: string): void {
  const { level, msg, ...rest } = readLine(line);
  const fields = Object.fromEntries(Object.entries(rest).filter(([name]) => !ours.has(name)));
  const known = levels.find((one) => one === level) ?? "info";
  if (typeof msg === "string") logger[known](fields, msg);
  else logger[known](fields);
}
const ours = new Set(["time", "service", "job_id", "job_type", "attempt"]);

/** Anything that is not a logger's line is shown as it came. */
function readLine(line: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed === "object" && parsed !== null) return { ...parsed };
  } catch {
    // Below.
  }
  return { msg: line };
}
