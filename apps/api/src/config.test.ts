import { expect, test } from "vitest";
import { readApiConfig } from "./config.ts";

const DATABASE_URL = "postgres://localhost/atlasqueue";

test("only the database must be set", () => {
  expect(readApiConfig({ DATABASE_URL })).toMatchObject({
    database: { url: DATABASE_URL, connectionsMax: 10, timeoutMs: 1_500, preparedStatements: true },
    redis: undefined,
    log_level: "info",
    listen: { host: "127.0.0.1", port: 8_000 },
    idempotency_ttl_seconds: 86_400,
    shutdown_ms: 10_000,
  });
});

test.each([
  ["{aq}:jobs", "{aq}:dlq"],
  // They only begin alike.
  ["jobs", "jobs-dead"],
])("the keys in Redis can be named: %s and %s", (jobs, deadLetters) => {
  const set = { DATABASE_URL, REDIS_URL: "redis://localhost", JOB_QUEUE_KEY: jobs, DLQ_KEY: deadLetters };
  expect(readApiConfig(set).redis).toEqual({ url: "redis://localhost", keys: { jobs, deadLetters } });
});

test.each<readonly [Record<string, string>, string]>([
  [{}, "DATABASE_URL is not set; it must be a URL such as postgres://"],
  [{ DATABASE_URL: "mysql://secret@x" }, "DATABASE_URL must be a URL such as postgres://"],
  [{ DATABASE_URL, API_PORT: "65536" }, 'API_PORT must be a port from 0 (any free one) to 65535; got "65536"'],
  [{ DATABASE_URL, BODY_BYTES_MAX: "2000000" }, "BODY_BYTES_MAX must be an integer from 1024 to 1048576"],
  [{ DATABASE_URL, TRUSTED_PROXIES: "10.0.0.0/8,proxy" }, "TRUSTED_PROXIES must be addresses and ranges of them"],
  [{ DATABASE_URL, AUTH: "on" }, 'AUTH must be "disabled" or "required"; got "on"'],
  [{ DATABASE_URL, ADMIN_SECRET: "secret" }, "ADMIN_SECRET must be a text of at least 16 printable ASCII characters"],
  [{ DATABASE_URL, ADMIN_SECRET: "a text of seventeen\n" }, "as a header can carry it; got something else (not shown)"],
  [{ DATABASE_URL, RATE_LIMIT_SECONDS: "0.5" }, "RATE_LIMIT_SECONDS must be a number of seconds from 1 to 86400"],
  [
    { DATABASE_URL, API_PORT: "tcp://10.0.0.1:8000" },
    'got "tcp://10.0.0.1:8000", which Kubernetes sets for the Service "api". Set enableServiceLinks: false in the pod, or set API_PORT',
  ],
  ...["a", "a:dlq", "a:queue:mail"].map(
    (DLQ_KEY) =>
      [{ DATABASE_URL, JOB_QUEUE_KEY: "a", DLQ_KEY }, "JOB_QUEUE_KEY and DLQ_KEY must be two names"] as const,
  ),
  [{ DATABASE_URL, JOB_QUEUE_KEY: "a:jobs", DLQ_KEY: "a" }, 'neither the beginning of the other; got "a:jobs" and "a"'],
  [{ DATABASE_URL, LOG_LEVEL: "loud" }, "LOG_LEVEL must be DEBUG, INFO, WARNING or ERROR"],
])("a wrong setting is named in one line: %j", (env, message) => {
  expect(() => readApiConfig(env)).toThrow(message);
  expect(() => readApiConfig(env)).not.toThrow(/\n|secret(?!s)/);
});

test.each(["0.0.0.0", "::", "192.168.1.5", "example.com"])(
  "listening on %s, where others can reach it, must be asked for explicitly",
  (API_HOST) => {
    expect(() => readApiConfig({ DATABASE_URL, API_HOST })).toThrow(/^API_HOST .*ALLOW_UNAUTHENTICATED=true/);
    expect(readApiConfig({ DATABASE_URL, API_HOST, ALLOW_UNAUTHENTICATED: "true" }).listen.host).toBe(API_HOST);
  },
);

test("an IPv6 address may be in brackets, as in a URL", () => {
  const set = { DATABASE_URL, API_HOST: "[::1]", ALLOWED_HOSTS: "queue.example.com, [2001:DB8::7]" };
  const config = readApiConfig(set);
  expect(config.listen.host).toBe("::1");
  expect(config.allowed_hosts?.names).toEqual(["queue.example.com", "2001:db8::7"]);
  expect(() => readApiConfig({ DATABASE_URL, ALLOWED_HOSTS: "[::g]" })).toThrow("ALLOWED_HOSTS must be names of hosts");
});

test.each(["127.0.0.1", "127.1.2.3", "::1", "localhost"])("listening on %s needs no permission", (API_HOST) => {
  expect(readApiConfig({ DATABASE_URL, API_HOST }).listen.host).toBe(API_HOST);
});

test("with tokens it may listen anywhere and under any name, and tenants have a limit", () => {
  const set = { DATABASE_URL, API_HOST: "0.0.0.0", AUTH: "required" };
  expect(readApiConfig(set)).toMatchObject({
    auth: "required",
    allowed_hosts: undefined,
    rate_limit: { limit: 600_000, period_ms: 60_000 },
  });
  expect(readApiConfig({ ...set, RATE_LIMIT_REQUESTS: "0" }).rate_limit).toBeUndefined();
  expect(readApiConfig({ ...set, RATE_LIMIT_REQUESTS: "5", RATE_LIMIT_SECONDS: "1" }).rate_limit).toEqual({
    limit: 5,
    period_ms: 1_000,
  });
});

test("without tokens there is no limit unless one is set", () => {
  expect(readApiConfig({ DATABASE_URL }).rate_limit).toBeUndefined();
  expect(readApiConfig({ DATABASE_URL, RATE_LIMIT_REQUESTS: "5" }).rate_limit?.limit).toBe(5);
});
