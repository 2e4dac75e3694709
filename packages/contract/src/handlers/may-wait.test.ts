import { expect, test } from "vitest";
import { z } from "zod";
import * as mini from "zod/mini";
import { mayWait } from "./may-wait.ts";

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree);
  },
});

test.each<[string, z.core.$ZodType]>([
  ["object", z.object({ n: z.number(), text: z.string().optional() })],
  ["strict object with a catchall", z.strictObject({ a: z.null() }).catchall(z.int())],
  ["formats", z.object({ to: z.email(), id: z.uuidv7(), at: z.iso.datetime(), ip: z.ipv4(), url: z.url() })],
  ["bounds", z.string().min(1).max(9).trim().toLowerCase().regex(/a/).startsWith("a")],
  ["property", z.string().check(z.property("length", z.number().max(9)))],
  ["numbers", z.number().int().positive().multipleOf(5).max(100)],
  ["union", z.discriminatedUnion("kind", [z.object({ kind: z.literal("a") }), z.object({ kind: z.enum(["b"]) })])],
  ["collections", z.array(z.tuple([z.record(z.string(), z.set(z.date())), z.map(z.string(), z.bigint())])).min(1)],
  ["defaults", z.object({ a: z.number().default(() => 1), b: z.string().nullable().prefault("x").readonly() })],
  ["schema that contains itself", tree],
  ["mini", mini.object({ a: mini.string().check(mini.minLength(1)), b: mini.optional(mini.email()) })],
])("never waits: %s", (_, schema) => {
  expect(mayWait(schema)).toBe(false);
  expect(mayWait(schema)).toBe(false);
});

const endless = (): z.ZodType =>
  z.object({
    get next() {
      return endless();
    },
  });

const later = async () => true;
test.each<[string, z.core.$ZodType]>([
  ["refine", z.string().refine(later)],
  ["deep in an object", z.object({ a: z.array(z.object({ b: z.optional(z.number().refine(later)) })) })],
  ["refine on a container", z.object({ a: z.string() }).refine(later)],
  ["superRefine", z.string().superRefine(async () => {})],
  ["check", z.string().check(async () => {})],
  ["transform", z.string().transform(later)],
  ["preprocess", z.preprocess(later, z.unknown())],
  ["codec", z.codec(z.string(), z.boolean(), { decode: later, encode: () => "" })],
  ["pipe", z.string().pipe(z.string().refine(later))],
  ["custom", z.custom<string>(later)],
  ["promise", z.promise(z.string())],
  ["lazy", z.lazy(() => z.string().refine(later))],
  ["catch", z.string().refine(later).catch("")],
  ["a record's keys", z.record(z.string().refine(later), z.string())],
  ["a tuple's rest", z.tuple([z.string()], z.string().refine(later))],
  ["a catchall", z.object({}).catchall(z.string().refine(later))],
  ["a default's inner type", z.string().refine(later).default("a")],
  ["a property", z.string().check(z.property("length", z.number().refine(later)))],
  ["parts without end", endless()],
  ["mini", mini.string().check(mini.refine(later))],
])("may wait: %s", (_, schema) => expect(mayWait(schema)).toBe(true));
