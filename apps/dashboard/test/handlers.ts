import { setTimeout } from "node:timers/promises";
import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";

const any = z.record(z.string(), z.unknown());

/** What the tests' jobs do. Addresses and numbers in the errors differ from job to job, as they do in life. */
export const handlers = [
  defineHandler("mail.send", any, async (payload, { log }) => {
    log(`sending to ${String(payload["to"])}`);
    if (payload["to"] === "nobody@example.org")
      throw new Error(`no such user ${String(payload["user"] ?? 17)} in "eu-1"`);
    return { sent: payload["to"] };
  }),
  defineHandler("report.build", any, async () => ({ rows: 12_480 })),
  defineHandler("wait", any, async ({ seconds }, { signal }) => {
    await setTimeout(Number(seconds) * 1_000, undefined, { signal });
  }),
  defineHandler("hostile", any, async (payload) => {
    throw new Error(String(payload["text"]));
  }),
];
