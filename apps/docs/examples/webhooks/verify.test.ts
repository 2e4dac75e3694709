import { randomBytes } from "node:crypto";
import { createClient } from "@atlasqueue/client";
import { httpReceiver } from "@atlasqueue/harness";
import { readWorkerConfig, startWorkers } from "@atlasqueue/worker-app";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { isSigned } from "./verify.ts";

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

test("a webhook is sent again under its id, signed with the new and the old secret", { tags: ["slow"] }, async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  let calls = 0;
  const receiver = await httpReceiver(() => ({ status: (calls += 1) === 1 ? 503 : 204 }));
  const [fresh, old, other] = [newSecret(), newSecret(), newSecret()];
  const env = {
    DATABASE_URL: databaseUrl,
    WORKER_METRICS_PORT: "0",
    LOG_LEVEL: "ERROR",
    RETRY_BASE_DELAY_SECONDS: "0.01",
    RETRY_JITTER_MAX_SECONDS: "0",
    WEBHOOK_ALLOW_PRIVATE: "true",
    WEBHOOK_SECRETS: `customer-17=${fresh}, customer-17=${old}, default=${other}`,
  };
  const worker = await startWorkers(readWorkerConfig(env), {});
  onTestFinished(async () => {
    await worker.stop();
    await receiver.close();
  });
  const payload = { url: receiver.url, body: { order: 17 }, secret: "customer-17" };
  const job = await createClient({ url: apiUrl }).submit({ type: "webhook.deliver", payload });
  expect(await job.result()).toEqual({ status: 204 });
  expect(receiver.requests).toHaveLength(2);
  for (const { headers, body } of receiver.requests) {
    const own = headers as Record<string, string>;
    expect(own["webhook-id"]).toBe(job.id);
    expect([fresh, old, other].map((secret) => isSigned(secret, own, body))).toEqual([true, true, false]);
    expect(isSigned(fresh, { ...own, "webhook-timestamp": "1" }, body)).toBe(false);
    expect(isSigned(fresh, own, `${body} `)).toBe(false);
  }
});
