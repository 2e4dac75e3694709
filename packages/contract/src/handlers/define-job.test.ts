import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, expectTypeOf, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineJob, PayloadError, submitJob, type JobDefinition, type Json } from "../index.ts";

const sendEmail = defineJob("email.send", z.object({ to: z.email(), tries: z.coerce.number().default(1) }));

test("a definition types what is submitted and what the handler gets", () => {
  expectTypeOf(sendEmail).toEqualTypeOf<
    JobDefinition<{ to: string; tries?: unknown }, { to: string; tries: number }, Json>
  >();
  expect(sendEmail.parse({ to: "ada@example.org", tries: "3" })).toEqual({ to: "ada@example.org", tries: 3 });
  expect(() => sendEmail.parse({ to: "nobody" })).toThrow(PayloadError);
});

test("a submission carries the payload as given, for the handler's schema to read", () => {
  const submission = sendEmail.submission({ to: "ada@example.org" }, { priority: 3, idempotency_key: "k" });
  expect(submission).toEqual({
    type: "email.send",
    payload: { to: "ada@example.org" },
    priority: 3,
    idempotency_key: "k",
  });
  const { idempotency_key: _, ...body } = submission;
  expect(submitJob.safeParse(body).success).toBe(true);
});

test("a schema with asynchronous checks is awaited", async () => {
  const known = defineJob("known", z.object({ n: z.number().refine(async (n) => n > 0) }));
  expect(await known.parse({ n: 1 })).toEqual({ n: 1 });
  await expect(known.parse({ n: -1 })).rejects.toThrow(PayloadError);
});

test("an asynchronous check runs once, and one that rejects fails the parsing alone", async () => {
  const strays: unknown[] = [];
  const note = (reason: unknown) => void strays.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  let checks = 0;
  const check = async () => {
    checks += 1;
    throw new Error("the list of customers is away");
  };
  const known = defineJob("known", z.object({ n: z.number().refine(check) }), z.number().refine(check));
  await expect(known.parse({ n: 1 })).rejects.toThrow("the list of customers is away");
  await expect(known.parseResult(1)).rejects.toThrow("the list of customers is away");
  // An unhandled rejection is reported once the microtasks are done.
  await nextTurn();
  expect(strays).toEqual([]);
  expect(checks).toBe(2);
});

test("an invalid type is refused where it is defined", () => {
  expect(() => defineJob("a\nb", z.object({}))).toThrow(/a job's type must be a string of 1 to 128/);
});
