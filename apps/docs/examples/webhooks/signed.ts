import { createHmac } from "node:crypto";
import { DoNotRetryError, defineHandler, type Handler } from "@atlasqueue/worker";
import { z } from "zod";

const payload = z.object({ url: z.url(), body: z.json() });

/** Sends the body as JSON, signed as https://www.standardwebhooks.com has it. Each attempt is signed with its own time. */
export function signedWebhooks(secret: string): Handler {
  return defineHandler("webhook.signed", payload, async ({ url, body }, { job, signal }) => {
    const text = JSON.stringify(body);
    const time = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac("sha256", Buffer.from(secret, "base64")).update(`${job.id}.${time}.${text}`);
    const headers = {
      "content-type": "application/json",
      "webhook-id": job.id,
      "webhook-timestamp": time,
      "webhook-signature": `v1,${signature.digest("base64")}`,
    };
    const response = await fetch(url, { method: "POST", body: text, headers, signal, redirect: "manual" });
    if (response.status === 410) throw new DoNotRetryError("the receiver is gone");
    if (!response.ok) throw new Error(`the receiver returned ${response.status}`);
    return { status: response.status };
  });
}
