import { JobFinishedError, NotFoundError, type CallOptions, type Client } from "@atlasqueue/client";
import { isFinal, jobId, type Job } from "@atlasqueue/contract";
import {
  CLIENT_CAPABILITIES_META_KEY,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { chars_shown_default } from "../tools/fields.ts";
import { showDetails } from "../tools/job-views.ts";
import { marked } from "../untrusted/marked.ts";
import { visible } from "../untrusted/visible.ts";
import { answerOf, type Report } from "./call-tool.ts";
import { inProtocol } from "./in-protocol.ts";

// The Tasks extension of MCP, https://modelcontextprotocol.github.io/ext-tasks/: a job is a task, by its own id. The
// SDK has no server side for it, but lets these methods through.

const extension = "io.modelcontextprotocol/tasks";
export const tasksCapability = { extensions: { [extension]: {} } };

const poll_ms_min = 1_000;
const poll_ms_max = 30_000;

/** Whether a request says that its client knows tasks. */
export function takesTasks(context: ServerContext): boolean {
  const envelope: Record<string, unknown> = context.mcpReq.envelope ?? {};
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as { extensions?: Record<string, unknown> } | undefined;
  const wish = declared?.extensions?.[extension];
  return typeof wish === "object" && wish !== null && !Array.isArray(wish);
}

/** What `tools/call` answers in place of a result. */
export function createdTask(job: Job) {
  return { resultType: "task", ...taskOf(job), content: [] };
}

const task = z.strictObject({
  taskId: z.string(),
  status: z.enum(["working", "completed", "cancelled"]),
  statusMessage: z.string(),
  createdAt: z.string(),
  lastUpdatedAt: z.string(),
  ttlMs: z.int().nullable(),
  pollIntervalMs: z.int(),
});
type Task = z.output<typeof task>;
const detailedTask = task.extend({ result: z.record(z.string(), z.unknown()).optional() });

function taskOf(job: Job): Task {
  const { id, status, created_at, updated_at, run_at, attempts, max_attempts } = job;
  const statusMessage = isFinal(status)
    ? `the job is ${status}`
    : `the job is ${status}: ${attempts} of ${max_attempts} attempts so far`;
  const due_ms = Date.parse(run_at) - Date.now();
  return {
    taskId: id,
    // A job that died has an answer as well: what it died of.
    status: !isFinal(status) ? "working" : status === "cancelled" ? "cancelled" : "completed",
    statusMessage: visible(statusMessage),
    createdAt: created_at,
    lastUpdatedAt: updated_at,
    // Kept as long as the API keeps finished jobs.
    ttlMs: null,
    pollIntervalMs: Math.round(Math.min(poll_ms_max, Math.max(poll_ms_min, due_ms))),
  };
}

function detailedTaskOf(job: Job): z.output<typeof detailedTask> {
  if (job.status !== "succeeded" && job.status !== "dead") return taskOf(job);
  const cuts: string[] = [];
  const shown = {
    job_id: job.id,
    status: job.status,
    created: true,
    job: showDetails(cuts, job, { chars_max: chars_shown_default }),
  };
  const answer = { resultType: "complete", ...answerOf(marked(shown, cuts)) };
  return { ...taskOf(job), result: job.status === "dead" ? { ...answer, isError: true } : answer };
}

/** Answer `tasks/get`, `tasks/update` and `tasks/cancel`. */
export function addTasks(server: Server, client: Client, report: Report): void {
  const params = z.looseObject({ taskId: z.string() });
  const done = z.looseObject({});
  const answer = <T>(context: ServerContext, task_id: string, ask: (id: string, call: CallOptions) => Promise<T>) => {
    if (!takesTasks(context)) throw new MissingRequiredClientCapabilityError({ requiredCapabilities: tasksCapability });
    return inProtocol(
      known(task_id, (id) => ask(id, { signal: context.mcpReq.signal })),
      report,
    );
  };

  server.setRequestHandler("tasks/get", { params, result: detailedTask }, async ({ taskId }, context) =>
    detailedTaskOf(await answer(context, taskId, (id, call) => client.get(id, call))),
  );
  // Jobs ask for nothing while they run, so there is nothing an answer could be for.
  server.setRequestHandler("tasks/update", { params, result: done }, async ({ taskId }, context) => {
    await answer(context, taskId, (id, call) => client.get(id, call));
    return {};
  });
  server.setRequestHandler("tasks/cancel", { params, result: done }, async ({ taskId }, context) => {
    await answer(context, taskId, (id, call) =>
      client.cancel(id, call).catch((error: unknown) => {
        if (!(error instanceof JobFinishedError)) throw error;
      }),
    );
    return {};
  });
}

async function known<T>(task_id: string, find: (id: string) => Promise<T>): Promise<T> {
  const unknown = () => new ProtocolError(ProtocolErrorCode.InvalidParams, "There is no task with this id");
  const id = jobId.safeParse(task_id);
  if (!id.success) throw unknown();
  return find(id.data).catch((error: unknown) => {
    throw error instanceof NotFoundError ? unknown() : error;
  });
}
