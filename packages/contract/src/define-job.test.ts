import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineJob, PayloadError, submitJob, type JobDefinition } from "./index.ts";

const sendEmail = defineJob("email.send", z.object({ to: z.email(), tries: z.coerce.number().default(1) }));

test("a definition knows what is submitted and what the handler gets", () => {
  expectTypeOf(sendEmail).toEqualTypeOf<
    JobDefinition<{ to: string; tries?: unknown }, { to: string; tries: number }>
  >();
  expect(sendEmail.parse({ to: "ada@example.org", tries: "3" })).toEqual({ to: "ada@example.org", tries: 3 });
  expect(() => sendEmail.parse({ to: "nobody" })).toThrow(PayloadError);
});

test("a submission carries the payload as it was given, for the schema of the handler to read", () => {
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

test("a schema with asynchronous checks is waited for", async () => {
  const known = defineJob("known", z.object({ n: z.number().refine(async (n) => n > 0) }));
  expect(await known.parse({ n: 1 })).toEqual({ n: 1 });
  await expect(known.parse({ n: -1 })).rejects.toThrow(PayloadError);
});

test("a type that no job can have is refused where it is defined", () => {
  expect(() => defineJob("a\nb", z.object({}))).toThrow(/a job's type must be a string of 1 to 128/);
});
