import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { gate, recorder } from "../recorder.ts";
import { standStill } from "../../../client/test/stand-still.ts";
import { testApi, type TestApi } from "../test-api.ts";
import { createClient, type Client } from "@atlasqueue/client";

let api: TestApi;
let client: Client;
beforeAll(async () => {
  api = await testApi();
  client = createClient({ url: api.url });
});
afterAll(() => api.close());

const isHeartbeat = (input: unknown) => String(input).endsWith("/heartbeat");

test(
  "an API that takes a good part of each lease to renew it loses none",
  { tags: ["slow"], timeout: 60_000 },
  async () => {
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
    const told = recorder();
    const worker = slow.work("slow", () => opened, { leaseSeconds: 6, waitSeconds: 1, observe: told.observe });
    onTestFinished(() => worker.stop({ deadlineMs: 0 }));
    const { id } = await client.submit({ type: "a", queue: "slow", max_attempts: 1 });
    expect(await client.wait(id, { timeoutMs: 20_000 })).toMatchObject({ status: "succeeded", attempts: 1 });
    expect(told.named("lease_lost")).toEqual([]);
  },
);

test(
  "a late start that no answer allows goes back, as a renewal may have held it nevertheless",
  { tags: ["slow"], timeout: 60_000 },
  async () => {
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
  },
);
