import { defineHandler, type Handler } from "@atlasqueue/worker";
import { z } from "zod";

type Bank = { reserve(cents: number, key: string): Promise<string>; pay(id: string, key: string): Promise<string> };

/** Reserves the money, waits a week for a person at most, then pays. */
export function refunds(bank: Bank): Handler {
  return defineHandler("refund", z.object({ cents: z.int() }), async ({ cents }, { job, step, waitFor }) => {
    const reserved = await step("reserve", () => bank.reserve(cents, `${job.id}-reserve`));
    const decision = await waitFor("decided", { timeoutSeconds: 7 * 86_400 });
    if (decision.timed_out) return { paid: false, by: null };
    const { approved, by } = z.object({ approved: z.boolean(), by: z.string() }).parse(decision.payload);
    if (!approved) return { paid: false, by };
    return { paid: await step("pay", () => bank.pay(reserved, `${job.id}-pay`)), by };
  });
}
