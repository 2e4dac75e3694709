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
