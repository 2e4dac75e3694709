import { memorySignal, redisSignal, type Signal } from "@atlasqueue/core";
import { SignalUnavailableError } from "@atlasqueue/core/internal";
import { redisUrl, uniqueKeys } from "@atlasqueue/harness";
import { Redis } from "ioredis";
import { afterAll, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../../test/guarded-app.ts";
import { testApp } from "../../test/test-app.ts";
import { createRateLimiter } from "./rate-limiter.ts";

const { jobsKey, dlqKey } = uniqueKeys();
const signals: Signal[] = [];
const openSignal = () => {
  const keys = { jobs: jobsKey, deadLetters: dlqKey };
  const signal = redisSignal({ url: redisUrl(), keys, timeoutMs: 5_000 });
  signals.push(signal);
  return signal;
};
afterAll(() => Promise.all(signals.map((signal) => signal.close())));

const observe = () => {};
const rate_limit = { limit: 3, period_ms: 60_000 };
const path = "/v1/jobs/00000000-0000-0000-0000-000000000000";

test("all processes share a tenant's limit, and grant not one permit more", async () => {
  const rate = { limit: 1_000, period_ms: 3_600_000 };
  const limiters = [openSignal(), openSignal(), openSignal()].map((signal) =>
    createRateLimiter({ signal, observe }, rate),
  );
  const wishes = Array.from({ length: 3_000 }, (_, at) => limiters[at % 3]?.take("fleet", 1));
  const permits = await Promise.all(wishes);
  expect(permits.filter((permit) => permit?.allowed)).toHaveLength(1_000);
});

test("an answer says what remains; beyond the limit it is 429, saying when to come back", async () => {
  const api = await testApp({ rate_limit, signal: openSignal() });
  const first = await api.get(path);
  expect(first.status).toBe(404);
  expect(first.headers.get("ratelimit-policy")).toBe('"default";q=3;w=60');
  expect(first.headers.get("ratelimit")).toBe('"default";r=2;t=20');
  const created = await api.post("one", { type: "a" });
  expect(created.status).toBe(201);
  expect(created.headers.get("ratelimit")).toMatch(/^"default";r=1;t=(39|40)$/);
  await api.get("/v1/jobs/not-a-uuid");
  const refused = await api.post("two", { type: "a" });
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toMatch(/^(19|20)$/);
  expect(refused.headers.get("ratelimit")).toMatch(/^"default";r=0;t=(59|60)$/);
  expect(refused.headers.get("content-type")).toBe("application/problem+json");
  expect(await refused.json()).toMatchObject({ type: "/problems/rate-limited", status: 429 });
  expect(api.events).toContainEqual({ event: "rate_limited", tenant: "default" });
  await api.stop();
});

test("health, metrics and unknown paths cost nothing and mention no limit", async () => {
  const api = await testApp({ rate_limit: { limit: 1, period_ms: 60_000 } });
  for (const free of ["/health", "/livez", "/readyz", "/metrics", "/nowhere", "/health"]) {
    const response = await api.get(free);
    expect(response.status).not.toBe(429);
    expect(response.headers.get("ratelimit")).toBeNull();
  }
  expect((await api.get(path)).headers.get("ratelimit")).toBe('"default";r=0;t=60');
  await api.stop();
});

test("each tenant has its own limit", async () => {
  const api = await guardedApp({ rate_limit: { limit: 1, period_ms: 60_000 } });
  const tokenOf = async () => makeToken(api.deps, ["read"], await makeTenant(api.deps));
  const [a, b] = [await tokenOf(), await tokenOf()];
  expect((await api.send("GET", path, a.token)).status).toBe(404);
  expect((await api.send("GET", path, a.token)).status).toBe(429);
  expect((await api.send("GET", path, b.token)).status).toBe(404);
  expect((await api.send("GET", path)).status).toBe(401);
  await api.stop();
});

test("the buckets expire from Redis by themselves", async () => {
  const limiter = createRateLimiter({ signal: openSignal(), observe }, { limit: 10, period_ms: 60_000 });
  await limiter.take("t_gone", 1);
  const redis = new Redis(redisUrl());
  const left_ms = await redis.pttl(`${jobsKey}:permits:t_gone`);
  expect(left_ms).toBeGreaterThan(5_000);
  expect(left_ms).toBeLessThanOrEqual(6_001);
  redis.disconnect();
});

test("while Redis is away each process counts on its own, and reports that once", async () => {
  const broken = { ...memorySignal(), takePermits: () => Promise.reject(new SignalUnavailableError("away")) };
  const api = await testApp({ rate_limit, signal: broken });
  const statuses: number[] = [];
  for (let at = 0; at < 5; at += 1) statuses.push((await api.get(path)).status);
  expect(statuses).toEqual([404, 404, 404, 429, 429]);
  expect(api.events.filter(({ event }) => event === "rate_limit_degraded")).toHaveLength(1);
  await api.stop();
});
