import { setImmediate as nextTurn } from "node:timers/promises";
import { type } from "arktype";
import * as v from "valibot";
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

test("a submission is refused for a payload that does not fit, unless its checks are asynchronous", async () => {
  expect(() => sendEmail.submission({ to: "nobody" })).toThrow(PayloadError);
  const late = defineJob("late", z.object({ to: z.string().refine(async () => false) }));
  expect(late.submission({ to: "nobody" }).payload).toEqual({ to: "nobody" });
  await expect(late.parse({ to: "nobody" })).rejects.toThrow(PayloadError);
});

test("a type's defaults fill in what a submission does not name, also with a schema of its results", () => {
  const defaults = { max_attempts: 3, timeout_seconds: 60 };
  const sum = defineJob("sum", z.object({ n: z.number() }), { result: z.number(), ...defaults });
  expectTypeOf(sum).toEqualTypeOf<JobDefinition<{ n: number }, { n: number }, number>>();
  const plain = defineJob("plain", z.object({}), { backoff: { kind: "fixed", base_seconds: 1 } });
  expectTypeOf(plain).toEqualTypeOf<JobDefinition<Record<string, never>, Record<string, never>, Json>>();
  expect(sum.submission({ n: 1 }, { max_attempts: 7 })).toEqual({
    type: "sum",
    payload: { n: 1 },
    max_attempts: 7,
    timeout_seconds: 60,
  });
  expect(sum.parseResult(3)).toBe(3);
  expect(() => defineJob("bad", z.object({}), { max_attempts: 26 })).toThrow(
    "the type bad: /max_attempts must be an integer from 1 to 25; got 26",
  );
  expect(() => defineJob("bad", z.object({}), { attempts: 3 } as object)).toThrow("/attempts is not a field");
});

const away = (what: string) => async () => {
  await nextTurn();
  throw new Error(`${what} is away`);
};
const checked = z.number().refine(away("first")).refine(away("second")).refine(away("third"));
type Tree = { n: number; inner: Tree[] };
const tree: z.ZodType<Tree, Tree> = z.object({ n: checked, inner: z.lazy(() => z.array(tree)) });

test.each<[string, z.ZodType<unknown, object>, object]>([
  ["of one value", z.object({ n: checked }), { n: 1 }],
  ["of a list's items", z.object({ n: z.array(checked.optional()).default([]) }), { n: [1, 2] }],
  ["of a schema that contains itself", tree, { n: 1, inner: [{ n: 2, inner: [] }] }],
  ["of one of several forms", z.object({ n: z.union([z.string(), checked]) }), { n: 1 }],
  ["of the whole payload", z.object({}).refine(away("first")).refine(away("second")), {}],
])("of asynchronous checks that reject the first fails the parsing: %s", async (_what, schema, payload) => {
  const strays: unknown[] = [];
  const note = (reason: unknown) => void strays.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  await expect(defineJob("known", schema).parse(payload)).rejects.toThrow("first is away");
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(strays).toEqual([]);
});

const valibot = v.object({
  to: v.pipe(v.string(), v.email()),
  lines: v.optional(v.array(v.object({ n: v.number() }))),
});
const arktype = type({ to: "string.email", "lines?": type({ n: "number" }).array() });

test("schemas of valibot and arktype type what is submitted and what the handler gets", () => {
  type Email = { to: string; lines?: { n: number }[] };
  const ofArktype = defineJob("email.send", arktype, type("number"));
  expectTypeOf(ofArktype).toEqualTypeOf<JobDefinition<Email, Email, number>>();
  const trimmed = defineJob("trim", v.object({ n: v.pipe(v.string(), v.transform(Number)) }));
  expectTypeOf(trimmed).toEqualTypeOf<JobDefinition<{ n: string }, { n: number }, Json>>();
  expect(trimmed.parse({ n: "3" })).toEqual({ n: 3 });
  expect(() => ofArktype.parseResult("three")).toThrow("must be a number");
});

test.each([
  ["valibot", defineJob("email.send", valibot)],
  ["arktype", defineJob("email.send", arktype)],
])("what does not fit a schema of %s is named by its field", (_library, definition) => {
  expect(definition.parse({ to: "ada@example.org" })).toEqual({ to: "ada@example.org" });
  const parse = () => definition.parse({ to: "ada", lines: [{ n: 1 }, { n: "2" }] });
  expect(parse).toThrow(PayloadError);
  expect(parse).toThrow(/email.*→ at to\b.*→ at lines\[1\]\.n/);
});

test("an invalid type, and what is no schema, are refused where they are defined", () => {
  expect(() => defineJob("a\nb", z.object({}))).toThrow(/a job's type must be a string of 1 to 128/);
  const none = { validate: () => true } as never;
  expect(() => defineJob("a", none)).toThrow("the schema of a must implement Standard Schema");
  expect(() => defineJob("a", z.object({}), none)).toThrow("the type a: /validate is not a field");
  expect(() => defineJob("a", z.object({}), { result: none })).toThrow("the result schema of a must implement");
});
