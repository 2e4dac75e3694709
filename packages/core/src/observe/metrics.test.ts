import { expect, test } from "vitest";
import { createMetrics } from "./metrics.ts";

const created = (tenant: string, job_type: string) =>
  ({ event: "job_created", job_id: "1", tenant, job_type, queue: "default", status: "queued" }) as const;

test("a tenant that makes up types leaves labels for other tenants' types, and adds a bounded number of series", async () => {
  const { observe, registry } = createMetrics();
  for (let at = 0; at < 1_000; at += 1) observe(created("greedy", `made-up-${at}`));
  for (let at = 0; at < 10; at += 1) observe(created(`tenant-${at}`, `mail-${at}`));
  const text = await registry.metrics();
  for (let at = 0; at < 10; at += 1) expect(text).toContain(`atlasqueue_jobs_submitted_total{job_type="mail-${at}"} 1`);
  expect(text.match(/job_type="made-up-/g)?.length).toBeLessThanOrEqual(150);
  expect(text).toMatch(/atlasqueue_jobs_submitted_total\{job_type="other"\} \d{3}/);
});
