import { createHmac } from "node:crypto";
import { createClient } from "@atlasqueue/client";
import { httpReceiver } from "@atlasqueue/harness";
import { createWorker } from "@atlasqueue/worker";
import { expect, onTestFinished, test } from "vitest";
import { startSystem } from "../system.ts";
import { signedWebhooks } from "./signed.ts";

test("a webhook is sent again under the same id, and each attempt is signed", { tags: ["slow"] }, async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  let calls = 0;
  const receiver = await httpReceiver(() => ({ status: (calls += 1) === 1 ? 503 : 204 }));
  const secret = Buffer.from("a secret of the receiver").toString("base64");
  const backoff = { baseSeconds: 0, maxSeconds: 0, jitterMaxSeconds: 0 };
  const worker = createWorker({ databaseUrl, handlers: [signedWebhooks(secret)], backoff });
  onTestFinished(async () => {
    await worker.stop({ deadlineMs: 0 });
    await receiver.close();
  });
  const payload = { url: receiver.url, body: { order: 17 } };
  const job = await createClient({ url: apiUrl }).submit({ type: "webhook.signed", payload });
  expect(await job.result()).toEqual({ status: 204 });
  expect(receiver.requests).toHaveLength(2);
  for (const { headers, body } of receiver.requests) {
    const text = `${job.id}.${String(headers["webhook-timestamp"])}.${body}`;
    const expected = createHmac("sha256", "a secret of the receiver").update(text).digest("base64");
    expect([headers["webhook-id"], headers["webhook-signature"]]).toEqual([job.id, `v1,${expected}`]);
  }
});
