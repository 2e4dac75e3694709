import { forFile } from "@atlasqueue/harness";
import { beforeAll, expect, test } from "vitest";
import { newId } from "@atlasqueue/core/internal/http";
import { testApp } from "../../../test/test-app.ts";

// As nothing that parsed it would write it.
const payload = '{"a" : [1.50, {}], "fill": "é"}';
const result = '{ "sum":1e2 }';
const api = forFile(testApp);
beforeAll(async () => {
  const { sql } = api.deps.database;
  await sql.unsafe(
    `INSERT INTO atlasqueue.jobs (id, type, status, run_at, created_at, updated_at, finished_at, dead_at, payload, result)
     VALUES ($1::text::uuid, 'a', 'dead', now(), now(), now(), now(), now(), $2::text::json, $3::text::json)`,
    [newId(), payload, result],
  );
  await sql`INSERT INTO atlasqueue.queue_counts (tenant, queue, dead) VALUES ('default', 'default', 1)`;
});

test.each(["/v1/jobs", "/v1/jobs?status=dead", "/v1/jobs?search=sum", "/v1/dlq", "/jobs"])(
  "GET %s answers JSON as it is stored, without parsing it",
  async (path) => {
    const answer = await api.get(path);
    const text = await answer.text();
    expect(text).toContain(`"payload":${payload},"result":${result},`);
    expect(JSON.parse(text)).toMatchObject({ items: [{ payload: { a: [1.5, {}], fill: "é" }, result: { sum: 100 } }] });
  },
);
