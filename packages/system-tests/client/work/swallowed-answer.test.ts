import { forFile } from "@atlasqueue/harness";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { gate } from "../recorder.ts";
import { standStill } from "../../../client/test/stand-still.ts";
import { clientOf, testApi, workersOf } from "../test-api.ts";
import { createClient } from "@atlasqueue/client";

const api = forFile(testApi);
const client = clientOf(api);

const isHeartbeat = (input: unknown) => String(input).endsWith("/heartbeat");

test("an API that takes a good part of each lease to renew it", { tags: ["slow"], timeout: 60_000 }, async () => {
  const { opened, open } = gate();
  let renewed = 0;
  const slow = createClient({
    url: api.url,
    async fetch(input, init) {
      const answer = await fetch(input, init);
      if (!isHeartbeat(input)) return answer;
      await pause(1_500, undefined, { signal: init?.signal ?? undefined });
      renewed += 1;
      if (renewed === 3) open();
      return answer;
    },
  });
  const told = workersOf(slow)("slow", () => opened, { leaseSeconds: 6, waitSeconds: 1 });
  const { id } = await client.submit({ type: "a", queue: "slow", max_attempts: 1 });
  expect(await client.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(told.named("lease_lost")).toEqual([]);
});

test("a late start that no answer allows goes back at once", { tags: ["slow"], timeout: 60_000 }, async () => {
  const { id } = await client.submit({ type: "a", queue: "unheard", max_attempts: 1 });
  let stood = false;
  let released = false;
  const remote = createClient({
    url: api.url,
    async fetch(input, init) {
      const response = await fetch(input, init);
      const text = await response.text();
      released ||= String(init?.body).includes('"releases"');
      if (isHeartbeat(input) && !released) throw new TypeError("fetch failed");
      if (!stood && text.includes('"lease_token"')) {
        stood = true;
        standStill(1_600);
      }
      return new Response(text, response);
    },
  });
  const worker = remote.work("unheard", () => {}, { leaseSeconds: 3, waitSeconds: 1, observe: () => {} });
  onTestFinished(() => worker.stop({ deadlineMs: 0 }));
  expect(await client.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
  expect(released).toBe(true);
});
