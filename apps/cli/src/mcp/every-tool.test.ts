import { forFile } from "@atlasqueue/harness";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { eras, mcpWorld, transports, type Era, type Speaker, type Transport } from "../../test/mcp-world.ts";
import { tour } from "../../test/mcp-tour.ts";
import { newerApi } from "../../test/newer-api.ts";

// The official client, over both transports and both protocols, against a real API.
const world = forFile(mcpWorld);

const all = "read,operate,work";
const ways = transports.flatMap((transport) => eras.map((era) => [transport, era] as const));
/** The other two are tried at night. */
const isForADay = ([transport, era]: (typeof ways)[number]) => (transport === "http") === (era === "modern");

describe.each(ways.filter(isForADay))("over %s, %s", toolsOver);
describe.each(ways.filter((way) => !isForADay(way)))("over %s, %s", { tags: ["nightly"] }, toolsOver);

function toolsOver(transport: Transport, era: Era): void {
  const queue = `${transport}-${era}`;
  let speaker: Speaker;
  beforeAll(async () => {
    speaker = await world.speak(transport, { token: world.tokens.admin, era, toolsets: all });
  });

  test("every tool does what it says, and answers as its schema has it", { tags: ["nightly"] }, async () => {
    // From here on the client holds each answer to the tool's schema.
    const names = await speaker.names();
    expect(names).toHaveLength(28);
    expect((await tour(speaker, queue)).toSorted()).toEqual(names.toSorted());
  });

  test("each tool has a title, a description, four hints, and schemas that say what is meant", async () => {
    const { tools } = await speaker.client.listTools();
    for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
      expect(title && description, name).toBeTruthy();
      expect(outputSchema, name).toMatchObject({ type: "object" });
      const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const;
      for (const hint of hints) expect(annotations?.[hint], `${name} ${hint}`).toBeTypeOf("boolean");
      for (const [field, schema] of Object.entries(inputSchema.properties ?? {}))
        expect((schema as { description?: string }).description, `${name} ${field}`).toBeTruthy();
    }
    expect(JSON.stringify(tools).length).toBeLessThan(60_000);
  });

  test("a job's trace is told with why it is not running", async () => {
    const trace_id = "0af7651916cd43dd8448eb211c80319c";
    const response = await fetch(`${world.api.url}/v1/jobs`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${world.tokens.admin}`,
        "content-type": "application/json",
        "idempotency-key": `traced ${queue}`,
        traceparent: `00-${trace_id}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({ type: "traced", queue }),
    });
    const { id: job_id } = (await response.json()) as { id: string };
    const { data } = await speaker.call("explain_job", { job_id });
    expect(data).toMatchObject({ status: "queued", trace_id, trace_url: `https://traces.example/${trace_id}` });
  });

  test("jobs and queues are resources", async () => {
    const operator = world.queue(world.tokens.admin);
    const { id } = await operator.submit({ type: "resource", queue, payload: { a: 1 } });
    await operator.setDefaults(queue, { max_attempts: 8 });
    const { resourceTemplates } = await speaker.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "atlasqueue://jobs/{id}",
      "atlasqueue://queues/{name}",
    ]);
    const uris = (await speaker.client.listResources()).resources.map(({ uri }) => uri);
    expect(uris).toContain(`atlasqueue://queues/${queue}`);
    const contentOf = async (uri: string) => {
      const [content] = (await speaker.client.readResource({ uri })).contents;
      return JSON.parse((content as { text: string }).text) as unknown;
    };
    expect(await contentOf(`atlasqueue://jobs/${id}`)).toMatchObject({
      notice: expect.stringContaining("data") as string,
      job: { job_id: id, payload: '{"a":1}' },
    });
    expect(await contentOf(`atlasqueue://queues/${queue}`)).toMatchObject({
      queue: { queue_name: queue, defaults: { max_attempts: 8 } },
    });
    for (const uri of [
      "atlasqueue://jobs/00000000-0000-4000-8000-000000000000",
      "atlasqueue://jobs/nothing",
      "atlasqueue://queues/no-such",
      "atlasqueue://queues/..%2f..",
      "file:///etc/passwd",
    ])
      await expect(speaker.client.readResource({ uri }), uri).rejects.toMatchObject({ code: -32_602 });
  });

  test("two prompts tell a model how to go about it", async () => {
    const { prompts } = await speaker.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["why_is_this_queue_behind", "clean_up_the_dead_letters"]);
    const said = async (name: string, args?: Record<string, string>) =>
      JSON.stringify((await speaker.client.getPrompt({ name, ...(args && { arguments: args }) })).messages);
    expect(await said("why_is_this_queue_behind", { queue_name: "mail" })).toContain("explain_job");
    expect(await said("clean_up_the_dead_letters")).toContain("replay_dead");
    expect(await said("clean_up_the_dead_letters", { type: "mail.send" })).toContain("mail.send");
    await expect(said("why_is_this_queue_behind", {})).rejects.toThrow("queue_name");
    await expect(said("why_is_this_queue_behind", { queue_name: "a b" })).rejects.toThrow("queue_name");
    await expect(said("nothing")).rejects.toThrow("why_is_this_queue_behind");
  });
}

test("an API that says more than the tools know changes nothing in their answers", { tags: ["nightly"] }, async () => {
  const newer = await newerApi(world.api.url);
  onTestFinished(() => newer.close());
  const job = { type: "tour", payload: { n: 1 } };
  await world.queue(world.tokens.admin).schedules.create({ name: "newer", cron: "0 3 * * *", timezone: "UTC", job });
  const speaker = await world.speak("stdio", { token: world.tokens.admin, toolsets: all, url: newer.url });
  const names = await speaker.names();
  expect((await tour(speaker, "newer")).toSorted()).toEqual(names.toSorted());
});
