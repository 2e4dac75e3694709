import { submitThrough, type SubmitMiddleware, type Tracing } from "@atlasqueue/contract";
import { createAsk } from "./http/ask.ts";
import { baseUrl } from "./http/base-url.ts";
import { createEvents } from "./http/event-stream.ts";
import { createTransport, type TransportOptions } from "./http/transport.ts";
import { auditCalls, type AuditCalls } from "./resources/audit.ts";
import { deadLetterCalls, type DeadLetterCalls } from "./resources/dead-letters.ts";
import { createFlowBuilder, type FlowBuilder } from "./flows/builder.ts";
import { flowCalls, type FlowCalls } from "./resources/flows.ts";
import { jobCalls, type JobCalls } from "./resources/jobs.ts";
import { leaseCalls, type LeaseCalls } from "./resources/leases.ts";
import { operationCalls, type OperationCalls } from "./resources/operations.ts";
import { queueCalls, type QueueCalls } from "./resources/queues.ts";
import { scheduleCalls, type ScheduleCalls } from "./resources/schedules.ts";
import { statsCalls, type StatsCalls } from "./resources/stats.ts";
import { stepCalls, type StepCalls } from "./resources/steps.ts";
import { sessionCalls, type SessionCalls } from "./resources/session.ts";
import { tokenCalls, type TokenCalls } from "./resources/tokens.ts";
import { streamCalls, type StreamCalls } from "./streams/submit-stream.ts";
import { workerCalls, type WorkerCalls } from "./resources/workers.ts";

export type ClientOptions = {
  /** Where the API is, such as "http://127.0.0.1:8000"; a path before /v1 is kept. */
  url: string;
  /** An API token, `aq_…`. Without one the API must run with AUTH=disabled. */
  token?: string;
  /** Sent with every call, such as what a proxy before the API asks for. */
  headers?: Record<string, string>;
  /** Default: the runtime's own. */
  fetch?: typeof fetch;
  /** For one try, on top of the time it waits on the server. Default 10,000. */
  timeoutMs?: number;
  /** Tries after the first, where retrying is safe. Default 5; 0 for none. */
  retries?: number;
  /** No try starts later than this after the first, so a longer Retry-After is an error at once. Default 60,000. */
  retryMaxMs?: number;
  /**
   * Requests waiting for jobs at once, however many jobs are waited for. Default 32; use 4 in a browser that speaks
   * HTTP/1.1, whose 6 connections per host are also needed for everything else.
   */
  waitsMax?: number;
  /** Around each submitted job, the first outermost. `submitStream` refuses to run with any. Default: none. */
  middleware?: readonly SubmitMiddleware[];
  /**
   * Where spans go: `openTelemetry()` of `@atlasqueue/client/opentelemetry`. Requests carry the span they are part of.
   * Default: none, which costs nothing.
   */
  tracing?: Tracing | undefined;
};

/** What the API can be asked. */
export type Calls = JobCalls &
  StreamCalls &
  LeaseCalls &
  StepCalls &
  QueueCalls &
  WorkerCalls &
  AuditCalls & {
    readonly deadLetters: DeadLetterCalls;
    /** Operations on many jobs that go on in the background. */
    readonly operations: OperationCalls;
    /** Flows as a whole: look at them, cancel them, run again what failed. */
    readonly flows: FlowCalls;
    /** Put together jobs that wait for one another, and submit them as one. */
    flow(): FlowBuilder;
    readonly schedules: ScheduleCalls;
    readonly tokens: TokenCalls;
    /** What happens, now and over time. */
    readonly stats: StatsCalls;
    readonly session: SessionCalls;
  };

/**
 * A client without the worker, for pages in a browser, which need not load that. Otherwise like `createClient`.
 *
 * @example
 * const calls = createCalls({ url: location.origin });
 * const { items } = await calls.page({ queue: "mail" });
 */
export function createCalls(options: ClientOptions): Calls {
  const transport: TransportOptions = {
    url: baseUrl(options.url),
    token: checkedToken(options.token),
    headers: options.headers ?? {},
    // Called as a plain function: a browser's fetch refuses any other `this`.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeoutMs: options.timeoutMs ?? 10_000,
    retries: options.retries ?? 5,
    retryMaxMs: options.retryMaxMs ?? 60_000,
    tracing: options.tracing,
  };
  const { middleware } = options;
  const through = submitThrough(middleware);
  const send = createTransport(transport);
  const ask = createAsk(send);
  const jobs = jobCalls(send, ask, { waits_max: options.waitsMax ?? 32, tracing: options.tracing, through });
  return {
    ...jobs,
    ...streamCalls(transport, middleware),
    ...leaseCalls(send),
    ...stepCalls(ask),
    ...queueCalls(ask),
    ...workerCalls(ask),
    ...auditCalls(ask),
    flows: flowCalls(ask),
    flow: () => createFlowBuilder(send, through, jobs.handle),
    schedules: scheduleCalls(ask),
    tokens: tokenCalls(ask),
    stats: statsCalls(ask, createEvents(transport)),
    session: sessionCalls(ask),
    deadLetters: deadLetterCalls(ask),
    operations: operationCalls(ask),
  };
}

/** Refused here, without being shown: fetch would put a bad header into its message. */
function checkedToken(token: string | undefined): string | undefined {
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token;
  throw new TypeError("token must be printable ASCII without spaces");
}
