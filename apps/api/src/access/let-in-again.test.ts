import { eventually } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../test/guarded-app.ts";
import { requireTokens } from "./authenticate.ts";
import { createWatch } from "./watch.ts";

test.each([
  ["GET", "/v1/events", "text/event-stream"],
  ["POST", "/v1/jobs/stream", "application/x-ndjson"],
])("however long a call goes on, it takes one permit: %s %s", async (method, path, type) => {
  let asked = 0;
  const api = await guardedApp((core) => {
    const authenticator = requireTokens(core);
    return {
      rate_limit: { limit: 60, period_ms: 3_600_000 },
      authenticator: { ...authenticator, watch: createWatch((c) => ((asked += 1), authenticator.callerOf(c))) },
    };
  });
  const { token } = await makeToken(api.deps, ["admin"], await makeTenant(api.deps));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" };
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const sent = method === "POST" ? { body: body.readable, duplex: "half" as const } : {};
  const call = await api.app.request(path, { method, headers, ...sent });
  expect(call.headers.get("content-type")).toBe(type);
  onTestFinished(async () => {
    await call.body?.cancel();
    await api.stop();
  });
  await eventually(() => expect(asked).toBeGreaterThan(1));
  const read = await api.send("GET", "/v1/queues", token);
  expect(read.headers.get("ratelimit")).toContain("r=58;");
});
