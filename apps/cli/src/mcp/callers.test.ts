import { randomUUID } from "node:crypto";
import { forFile } from "@atlasqueue/harness";
import { describe, expect, test } from "vitest";
import { mcpWorld, transports } from "../../test/mcp-world.ts";
import { admin, read, scopeOf, submit, work } from "../../test/tool-scopes.ts";

// Who may do what: the API decides, by the token; the same over both transports.
const world = forFile(mcpWorld);

describe.each(transports)("over %s", (transport) => {
  test.each([
    ["read", undefined, read],
    ["submit", undefined, submit],
    ["work", undefined, []],
    ["work", "work", work],
    ["admin", undefined, [...read, ...submit, ...admin]],
    ["admin", "read", read],
    ["admin", "work,read", [...read, ...work]],
  ] as const)(
    "a token with %s and the toolsets %s is shown its tools",
    { tags: ["nightly"] },
    async (scope, toolsets, tools) => {
      const speaker = await world.speak(transport, {
        token: world.tokens[scope],
        ...(toolsets === undefined ? {} : { toolsets }),
      });
      expect(await speaker.names()).toEqual(expect.arrayContaining([...tools]));
      expect(await speaker.names()).toHaveLength(tools.length);
    },
  );

  const nobody = randomUUID();
  const key = { idempotency_key: "key" };
  const lease_token = nobody;
  const about = (job_id: string): [string, Record<string, unknown>][] => [
    ["get_job_status", { job_id }],
    ["get_job_details", { job_id }],
    ["get_job_attempts", { job_id }],
    ["explain_job", { job_id }],
    ["cancel_job", { job_id, ...key }],
    ["retry_job", { job_id, ...key }],
    ["ack_job", { job_id, lease_token }],
    ["nack_job", { job_id, lease_token, error: "?" }],
    ["release_job", { job_id, lease_token }],
    ["heartbeat", { job_id, lease_token }],
  ];
  const aboutFlow = (flow_id: string): [string, Record<string, unknown>][] => [
    ["get_flow", { flow_id }],
    ["cancel_flow", { flow_id, ...key }],
    ["retry_flow", { flow_id, ...key }],
  ];
  const others: [string, Record<string, unknown>][] = [
    ["list_jobs", {}],
    ["list_queues", {}],
    ["get_queue_stats", {}],
    ["get_throughput", {}],
    ["list_dead", {}],
    ["list_workers", {}],
    ["list_schedules", {}],
    ["list_flows", {}],
    ["enqueue_flow", { jobs: [{ payload: {} }], ...key }],
    ["enqueue_job", { payload: {}, ...key }],
    ["enqueue_job_batch", { jobs: [{ payload: {} }], ...key }],
    ["pause_queue", { queue_name: "default", ...key }],
    ["resume_queue", { queue_name: "default", ...key }],
    ["replay_dead", {}],
    ["lease_job", { queue_name: "default" }],
  ];
  test("a token that may only submit is told of its job at once, and why it cannot wait for the end", async () => {
    const speaker = await world.speak(transport, { token: world.tokens.submit });
    const wish = { payload: {}, wait: true, idempotency_key: `alone-${transport}` };
    const { data, isError } = await speaker.call("enqueue_job", wish);
    expect(isError).toBe(false);
    expect(data).toMatchObject({ created: true, cut: [expect.stringContaining("lacks the scope read")] });
  });

  test.each(["read", "submit", "work"] as const)(
    "a token with just %s is refused by every other tool, in words that say what to do",
    { tags: ["nightly"] },
    async (scope) => {
      const speaker = await world.speak(transport, { token: world.tokens[scope], toolsets: "read,operate,work" });
      for (const [name, args] of [...about(nobody), ...aboutFlow(nobody), ...others]) {
        const { text, isError } = await speaker.call(name, args);
        if (scopeOf(name) === scope) {
          expect(text, name).not.toContain("The token does not allow this");
          continue;
        }
        expect(isError, name).toBe(true);
        expect(text, name).toContain(`"${scopeOf(name)}"`);
        expect(text, name).toContain("ask your user");
      }
    },
  );

  test("another tenant's jobs, flows, queues and dead letters do not exist", { tags: ["nightly"] }, async () => {
    const mine = world.queue(world.tokens.admin);
    const queue = `mine-${transport}`;
    const { id } = await mine.submit({ type: "mine", queue, payload: { secret: true } });
    const dead = await mine.submit({ type: "mine", queue: `${queue}-dead`, max_attempts: 1 });
    const [held] = await mine.lease(`${queue}-dead`, { workerId: "w", waitSeconds: 10 });
    if (held) await mine.nack(held, "Error: secret");
    const stranger = await world.speak(transport, { token: world.tokens.other, toolsets: "read,operate,work" });
    const flow = mine.flow();
    const parent = flow.add({ type: "mine", queue });
    flow.add({ type: "mine", queue, depends_on: [parent] });
    const { id: flow_id } = await flow.submit();
    const before = await Promise.all([mine.get(id), mine.get(dead.id), mine.flows.get(flow_id ?? "")]);

    for (const [known, calls] of [
      [id, about],
      [flow_id ?? "", aboutFlow],
    ] as const)
      for (const [at, [name, args]] of calls(known).entries()) {
        const theirs = await stranger.call(name, args);
        const unknown = await stranger.call(...(calls(nobody)[at] as [string, Record<string, unknown>]));
        expect(theirs.isError, name).toBe(true);
        expect(theirs.text.replaceAll(known, nobody), name).toBe(unknown.text);
      }
    for (const [name, args] of others) {
      const { text } = await stranger.call(name, args);
      expect(text, name).not.toMatch(/secret|mine/);
    }
    expect((await stranger.call("get_queue_stats", { queue_name: queue })).text).toContain("There is no queue");
    expect(await stranger.call("replay_dead", {})).toMatchObject({ data: { matched: 0 } });
    expect(await stranger.call("lease_job", { queue_name: queue })).toMatchObject({ data: { job: null } });
    const { client } = stranger;
    await expect(client.readResource({ uri: `atlasqueue://jobs/${id}` })).rejects.toMatchObject({ code: -32_602 });
    await expect(client.readResource({ uri: `atlasqueue://queues/${queue}` })).rejects.toMatchObject({
      code: -32_602,
    });
    expect(JSON.stringify(await client.listResources())).not.toContain("mine");
    expect(await Promise.all([mine.get(id), mine.get(dead.id), mine.flows.get(flow_id ?? "")])).toEqual(before);
  });

  test("a tool of a toolset that was not asked for says where it is, and one there is not says so", async () => {
    const speaker = await world.speak(transport, { token: world.tokens.admin });
    await expect(speaker.call("lease_job", {})).rejects.toThrow("toolsets=read,operate,work");
    await expect(speaker.call("drop_table", {})).rejects.toThrow("tools/list");
  });
});

test("a token that is not one is refused: at the door over HTTP, by each call over stdio", async () => {
  const token = "aq_nonsense";
  await expect(world.speak("http", { token })).rejects.toThrow(/401|nauthorized/);
  const speaker = await world.speak("stdio", { token });
  const { text, isError } = await speaker.call("list_queues");
  expect(isError).toBe(true);
  expect(text).toContain("check the token");
  expect(text).not.toContain(token);
});
