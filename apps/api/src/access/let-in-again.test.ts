import { eventually } from "@atlasqueue/testing";
import { expect, onTestFinished, test, vi } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../test/guarded-app.ts";
import { createJobStreams } from "../jobs/stream/open-streams.ts";
import { requireTokens } from "./authenticate.ts";

test.each([
  ["GET", "/v1/events", "text/event-stream"],
  ["POST", "/v1/jobs/stream", "application/x-ndjson"],
])("however long a call goes on, it takes one permit: %s %s", async (method, path, type) => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const api = await guardedApp((core) => {
    const authenticator = requireTokens(core);
    return {
      rate_limit: { limit: 60, period_ms: 3_600_000 },
      jobStreams: createJobStreams({ look_ms: 5_000 }),
      authenticator: { ...authenticator, callerOf: (c) => ((asked += 1), authenticator.callerOf(c)) },
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
  vi.advanceTimersByTime(20_000);
  await eventually(() => expect(asked).toBe(1 + 4));
  const read = await api.send("GET", "/v1/queues", token);
  expect(read.headers.get("ratelimit")).toContain("r=58;");
});
