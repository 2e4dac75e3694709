import { forFile } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { mcpWorld, type Speaker } from "../../test/mcp-world.ts";

// What becomes of a change that is asked for twice.
const world = forFile(mcpWorld);

let speaker: Speaker;
beforeAll(async () => void (speaker = await world.speak("http", { token: world.tokens.admin })));
const queue = "once";

test("of several calls with one key at once only one acts; the others get its result or an error that says to wait", async () => {
  const pause = { queue_name: `${queue}-twice`, idempotency_key: `twice-${queue}` };
  const answers = await Promise.all([1, 2, 3, 4].map(() => speaker.call("pause_queue", pause)));
  expect(answers.filter(({ data }) => data?.changed)).toHaveLength(1);
  for (const { text } of answers.filter(({ isError }) => isError)) expect(text).toMatch(/in progress.*Wait 1 s/);
  expect((await speaker.call("pause_queue", pause)).data).toMatchObject({ paused: true, changed: false });
});

test("a call whose process died before it was recorded is refused, and then repeated", { tags: ["slow"] }, async () => {
  const pause = { queue_name: `${queue}-died`, idempotency_key: `died-${queue}` };
  await speaker.call("pause_queue", pause);
  await speaker.call("resume_queue", { ...pause, idempotency_key: `up-${queue}` });
  await world.sql`UPDATE atlasqueue.audit_log SET finished = false WHERE idempotency_key = ${pause.idempotency_key}`;
  const { text, isError } = await speaker.call("pause_queue", pause);
  expect(isError).toBe(true);
  expect(text).toMatch(/in progress.*Wait 1 s, then call again with the same arguments/);
  await world.sql`
    UPDATE atlasqueue.audit_log SET at = at - interval '1 minute' WHERE idempotency_key = ${pause.idempotency_key}`;
  expect((await speaker.call("pause_queue", pause)).data).toMatchObject({ paused: true, changed: true });
  expect((await speaker.call("pause_queue", pause)).data).toMatchObject({ paused: true, changed: false });
});

test("a token with the scope submit may cancel and retry a job once for each key", async () => {
  const { id: job_id } = await world.queue(world.tokens.admin).submit({ type: "a", queue });
  const submitter = await world.speak("http", { token: world.tokens.submit });
  const cancel = { job_id, idempotency_key: `cancel-${queue}` };
  expect((await submitter.call("cancel_job", cancel)).data).toMatchObject({ status: "cancelled", changed: true });
  const retry = { job_id, idempotency_key: `retry-${queue}` };
  expect((await submitter.call("retry_job", retry)).data).toMatchObject({ status: "queued", changed: true });
  expect((await submitter.call("cancel_job", cancel)).data).toMatchObject({ status: "queued", changed: false });
  expect((await submitter.call("retry_job", { ...retry, idempotency_key: `more-${queue}` })).text).toContain(
    "Only a dead, cancelled or failed job can be retried",
  );
});
