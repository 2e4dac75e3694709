import { forFile } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { createApp } from "../app.ts";
import { testApp } from "../../test/test-app.ts";

const api = forFile(testApp);
let named: ReturnType<typeof createApp>;
beforeAll(async () => {
  named = createApp({ ...api.deps, allowed_hosts: { names: ["queue.example.com"], addresses: false } });
});

const pause = async (headers: Record<string, string>, app = api.app) =>
  (await app.request("http://localhost:8000/v1/queues/default/pause", { method: "POST", headers })).status;

test.each([
  { origin: "https://evil.example" },
  { origin: "null" },
  { origin: "http://localhost:3000" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site", origin: "http://localhost:3000" },
  { "sec-fetch-site": "cross-site", origin: "http://localhost:8000" },
])("another site's form pauses no queue: %j", async (headers) => {
  const response = await api.app.request("http://localhost:8000/v1/queues/default/pause", { method: "POST", headers });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({
    type: "/problems/foreign-origin",
    title: "The request came from another site's page",
    detail: expect.stringMatching(/^Origin is |Sec-Fetch-Site/),
  });
  const cancel = { method: "POST", headers };
  const openqueue = await api.app.request(
    "http://localhost:8000/jobs/00000000-0000-0000-0000-000000000000/cancel",
    cancel,
  );
  expect(openqueue.status).toBe(403);
});

test.each([
  {},
  { origin: "http://localhost:8000" },
  { origin: "http://localhost:8000", "sec-fetch-site": "same-origin" },
  { "sec-fetch-site": "none" },
  // Behind a proxy that changes the Host: the browser knows where it sent this.
  { origin: "https://queue.example.com", "sec-fetch-site": "same-origin" },
])("programs, and pages of the API's own, pause it: %j", async (headers) => {
  expect(await pause(headers)).toBe(200);
});

test("a page behind a proxy that changes Host is answered with both names and the setting that mends it", async () => {
  const headers = { origin: "https://queue.example.com" };
  const response = await api.app.request("http://api:8000/v1/queues/default/pause", { method: "POST", headers });
  expect([response.status, await response.json()]).toMatchObject([
    403,
    {
      detail:
        "Origin is https://queue.example.com, but Host is api:8000. If a proxy in front of this API changes Host, " +
        "let it pass Host on, or set PUBLIC_ORIGIN to this origin",
    },
  ]);
  const mended = createApp({ ...api.deps, public_origin: "https://queue.example.com" });
  const request = { method: "POST", headers };
  expect((await mended.request("http://api:8000/v1/queues/default/pause", request)).status).toBe(200);
});

test("an origin with a name in ALLOWED_HOSTS counts as the API's own", async () => {
  expect(await pause({ origin: "https://queue.example.com" })).toBe(403);
  expect(await pause({ origin: "https://queue.example.com" }, named)).toBe(200);
  expect(await pause({ origin: "https://evil.example" }, named)).toBe(403);
});

test("reading needs no origin, as no page of another site can see the answer", async () => {
  const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
  expect((await api.get("/v1/queues", headers)).status).toBe(200);
});
