import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { isCreateTaskResultV2, isDetailedTaskV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { forFile } from "@atlasqueue/harness";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { mcpWorld, transports } from "../../test/mcp-world.ts";
import { open, type Message, type Raw, type Reply } from "../../test/mcp-raw.ts";

// A job as a task of MCP's Tasks extension, by the schemas of its official package.
const world = forFile(mcpWorld);

const clientInfo = { name: "test", version: "1.0.0" };
const withTasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const framed = (capabilities: object, params: Record<string, unknown>) => ({
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  },
  ...params,
});

describe.each(transports)("over %s", (transport) => {
  let raw: Raw;
  beforeAll(() => {
    raw = open[transport](world, world.tokens.admin);
  });
  afterAll(() => raw.close());

  const queue_name = `tasks-${transport}`;
  const ask = (method: string, params: Record<string, unknown>, capabilities: object = withTasks): Promise<Reply> =>
    raw.ask({ method, params: framed(capabilities, params) });
  const enqueue = (key: string, args: object = {}, capabilities: object = withTasks) => {
    const wish = { queue_name, type: "long", payload: {}, max_retries: 0, idempotency_key: `${queue_name} ${key}` };
    return ask("tools/call", { name: "enqueue_job", arguments: { ...wish, ...args } }, capabilities);
  };
  const settle = async (act: "ack" | "nack") => {
    const queue = world.queue(world.tokens.admin);
    const [held] = await queue.lease(queue_name, { workerId: "w", waitSeconds: 10 });
    if (held) await (act === "ack" ? queue.ack(held, { sent: 17 }) : queue.nack(held, "Error: no such customer"));
  };

  test("an enqueued job is a task under its own id, which is polled to its result", async () => {
    const { result = {} } = await enqueue("done");
    expect(isCreateTaskResultV2(result), JSON.stringify(result)).toBe(true);
    expect(result).toMatchObject({ resultType: "task", status: "working", ttlMs: null });
    const { taskId } = result;
    expect(await world.queue(world.tokens.admin).get(taskId as string)).toMatchObject({ type: "long" });
    const working = await ask("tasks/get", { taskId });
    expect(isDetailedTaskV2(working.result)).toBe(true);
    expect(working.result).toMatchObject({ resultType: "complete", status: "working", pollIntervalMs: 1_000 });
    await settle("ack");
    const completed = await ask("tasks/get", { taskId });
    expect(isDetailedTaskV2(completed.result), JSON.stringify(completed)).toBe(true);
    expect(completed.result).toMatchObject({
      status: "completed",
      result: { structuredContent: { job_id: taskId, status: "succeeded", job: { result: '{"sent":17}' } } },
    });
    // The same call again: the job is done, so there is no task to wait for.
    expect((await enqueue("done")).result).toMatchObject({ structuredContent: { job_id: taskId, created: false } });
  });

  test("a job that dies is a completed task whose answer is an error, marked as data", async () => {
    const { result = {} } = await enqueue("dead");
    await settle("nack");
    const dead = await ask("tasks/get", { taskId: result.taskId });
    expect(isDetailedTaskV2(dead.result)).toBe(true);
    expect(dead.result).toMatchObject({
      status: "completed",
      result: {
        isError: true,
        structuredContent: {
          notice: expect.stringContaining("data") as string,
          job: { status: "dead", error_text: "Error: no such customer" },
        },
      },
    });
  });

  test("cancelling a task cancels its job; it may be repeated, and comes too late for one that is over", async () => {
    const { result: { taskId } = {} } = await enqueue("cancel");
    for (const _time of [1, 2]) expect((await ask("tasks/cancel", { taskId })).error).toBeUndefined();
    expect((await ask("tasks/get", { taskId })).result).toMatchObject({ status: "cancelled" });
    expect(await world.queue(world.tokens.admin).get(taskId as string)).toMatchObject({ status: "cancelled" });
    expect((await ask("tasks/update", { taskId, inputResponses: {} })).error).toBeUndefined();
  });

  test("without the extension there are no tasks, and wait says how long to wait", async () => {
    expect((await enqueue("plain", {}, {})).result).toMatchObject({ structuredContent: { status: "queued" } });
    expect((await enqueue("plain", { wait: false })).result).toMatchObject({ structuredContent: { created: false } });
    const { result: { structuredContent } = {} } = await enqueue("plain", {}, {});
    const { job_id: taskId } = structuredContent as { job_id: string };
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"])
      expect((await ask(method, { taskId }, {})).error, method).toMatchObject({
        code: -32_021,
        data: { requiredCapabilities: withTasks },
      });
    const waiting = enqueue("plain", { wait: true }, {});
    await settle("ack");
    expect((await waiting).result).toMatchObject({
      structuredContent: { status: "succeeded", job: { result: '{"sent":17}' } },
    });
  });

  test("what is no task of the caller's is unknown, whoever has it", async () => {
    const { result: { taskId } = {} } = await enqueue("theirs");
    const stranger = open[transport](world, world.tokens.other);
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const params = framed(withTasks, { taskId });
      expect((await stranger.ask({ method, params })).error, method).toMatchObject({ code: -32_602 });
      expect((await ask(method, { taskId: "no-task" })).error, method).toMatchObject({ code: -32_602 });
    }
    stranger.close();
    expect((await ask("tasks/get", { taskId })).result).toMatchObject({ status: "working" });
    await settle("ack");
  });

  test("the extension's own client awaits a job from the call to its answer", async () => {
    const client = new Client(clientInfo, {
      capabilities: withTasks,
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    });
    const authorization = `Bearer ${world.tokens.admin}`;
    const url = new URL(`${world.api.url}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: { authorization } } }));
    onTestFinished(() => client.close());
    const session = createTaskSessionFromClient(client, {
      endpointId: "test",
      v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo, clientCapabilities: withTasks },
      rawDispatch: async (request) => {
        const { result, error } = await raw.ask(request as unknown as Message);
        return (error ? { kind: "error", error } : { kind: "result", result }) as never;
      },
    });
    const execution = await session.callTool("enqueue_job", {
      queue_name,
      type: "long",
      payload: {},
      idempotency_key: `${queue_name} session`,
    });
    expect(execution.kind).toBe("task");
    const settled = execution.settle();
    await settle("ack");
    const { outcome } = await settled;
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { status: "succeeded" } });
    await session.close();
  });
});
