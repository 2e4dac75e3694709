import { forFile } from "@atlasqueue/harness";
import { createSchedule } from "@atlasqueue/contract";
import { putSchedule } from "@atlasqueue/core/internal";
import { createStorageQuota } from "@atlasqueue/core/internal/http";
import { beforeAll, expect, test } from "vitest";
import { guardedApp, makeTenant, makeToken } from "../test/guarded-app.ts";

const bytes_max = 10_000;
const api = forFile(() =>
  guardedApp((core) => ({
    storageQuota: createStorageQuota(core, { stored_bytes_per_tenant_max: bytes_max }),
  })),
);
let token: string;
let other: string;
let id: string;
beforeAll(async () => {
  const tenant = await makeTenant(api.deps);
  token = (await makeToken(api.deps, ["admin"], tenant)).token;
  // From before there was a quota.
  await putSchedule(api.deps, tenant, createSchedule.parse({ name: "old", ...template }));
  other = (await makeToken(api.deps, ["admin"], await makeTenant(api.deps))).token;
  await api.deps.database.sql`
    INSERT INTO atlasqueue.jobs (id, tenant, type, status, run_at, created_at, updated_at, finished_at, dead_at, payload)
    SELECT gen_random_uuid(), ${tenant}, 'noop', 'dead', now(), now(), now(), now(), now(), '{}' FROM generate_series(1, 100)`;
  const first = await submit(token, "first");
  expect(first.status).toBe(201);
  ({ id } = (await first.json()) as { id: string });
  expect((await api.send("POST", `/v1/jobs/${id}/cancel`, token)).status).toBe(200);
});

const payload = { fill: "x".repeat(6_000) };
const submit = (of: string, key: string) =>
  api.send("POST", "/v1/jobs", of, { type: "noop", payload }, { "idempotency-key": key });
const template = { cron: "0 0 * * *", job: { type: "noop", payload } };

/** Everything that stores a payload. */
const ways: Record<string, () => Promise<Response>> = {
  "POST /v1/jobs": () => submit(token, "second"),
  "POST /v1/jobs/batch": () =>
    api.send("POST", "/v1/jobs/batch", token, {
      jobs: ["first", "third"].map((idempotency_key) => ({ type: "noop", payload, idempotency_key })),
    }),
  "POST /v1/jobs/{id}/edit": () => api.send("POST", `/v1/jobs/${id}/edit`, token, { payload }),
  "POST /v1/dlq/replays": () =>
    api.send("POST", "/v1/dlq/replays", token, { filter: { all: true }, patch: { fill: "x".repeat(100) } }),
  "POST /v1/schedules": () => api.send("POST", "/v1/schedules", token, { name: "nightly", ...template }),
  "PUT /v1/schedules/{name}": () => api.send("PUT", "/v1/schedules/nightly", token, template),
  "POST /v1/schedules/{name}/run": () => api.send("POST", "/v1/schedules/old/run", token, {}),
  "POST /jobs": () => api.send("POST", "/jobs", token, { payload }, { "idempotency-key": "fourth" }),
  "POST /jobs/batch": () => api.send("POST", "/jobs/batch", token, { jobs: [{ payload }] }),
};

const rows = async () => {
  const [row] = await api.deps.database.sql<{ rows: number }[]>`
    SELECT ((SELECT count(*) FROM atlasqueue.jobs) + (SELECT count(*) FROM atlasqueue.schedules) + (SELECT count(*) FROM atlasqueue.idempotency_keys)
            + (SELECT count(*) FROM atlasqueue.operations))::int AS rows`;
  return row?.rows;
};

test.each(Object.entries(ways))("%s is refused when the storage is full, and uses up no key", async (path, way) => {
  const before = await rows();
  const answer = await way();
  expect(answer.status).toBe(429);
  expect(answer.headers.get("retry-after")).toBe("10");
  const body = (await answer.json()) as { type?: string; detail: string };
  expect(body.detail).toMatch(
    new RegExp(`The jobs of the tenant take about \\d+ bytes and may take ${bytes_max}; this request has \\d+`),
  );
  if (path.includes("/v1/")) expect(body.type).toBe("/problems/storage-full");
  expect(await rows()).toBe(before);
});

test("a repetition of a stored request is answered as ever", async () => {
  const answer = await submit(token, "first");
  expect(answer.status).toBe(200);
  expect(answer.headers.get("idempotency-replayed")).toBe("true");
});

test("a tenant whose storage is full fails none of those whose jobs are stored together with its own", async () => {
  const others = await Promise.all(
    Array.from({ length: 10 }, async () => (await makeToken(api.deps, ["submit"], await makeTenant(api.deps))).token),
  );
  const answers = await Promise.all(
    [...others, other].flatMap((of, at) => [submit(of, `at-${at}`), submit(token, `at-${at}`)]),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, at) => (at % 2 === 0 ? 201 : 429)));
});
