import { eventually } from "@atlasqueue/harness";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { any, workerHarness } from "../test/harness.ts";
import { defineHandler, DoNotRetryError, RetryAfterError, type Handler, type HandlerFunction } from "./handler.ts";

const refuse = () => {
  throw new Error("no answer");
};
const mute = new Proxy({}, { get: refuse, getPrototypeOf: refuse });
const { add, becomes, read, work } = workerHarness();
const bad = (run: HandlerFunction<unknown>, payload = any, options = {}) =>
  defineHandler("constructor", payload, run, options);
const throws = (reason: unknown) => bad(() => Promise.reject(reason));

describe("a bad job fails that job alone", () => {
  const hostile: [string, Handler | undefined, string][] = [
    ["an unknown type", undefined, 'UnknownType: no handler for type "constructor"'],
    ["a payload that does not fit", bad(() => 1, z.looseObject({ to: z.string() })), "PayloadError: "],
    ["a thrown string", throws("just text"), "NonError: just text"],
    ["a result that is a function", bad(() => () => 1), "ResultError: a function cannot be stored"],
    ["a result too large", bad(() => "x".repeat(300_000)), "ResultError: the result is 300002 bytes"],
    ["an error with a NUL", throws(new Error("a\0b")), "Error: a\u{fffd}b"],
    [
      "a timeout",
      bad(() => new Promise(() => {}), any, { timeoutSeconds: 0.05 }),
      "TimeoutError: the handler ran longer than 0.05 s",
    ],
    ["a thrown Proxy that answers nothing", throws(mute), "NonError: a value that cannot be shown"],
    [
      "an asynchronous check that rejects",
      bad(
        () => 1,
        any.refine(() => Promise.reject(new Error("no list of customers"))),
      ),
      "Error: no list of customers",
    ],
    ["an error that says not to retry", throws(new DoNotRetryError("gone")), "DoNotRetryError: gone"],
  ];
  test.each(hostile)("%s", async (_what, handler, error) => {
    const good = defineHandler("noop", any, () => "fine");
    work(handler ? [handler, good] : [good], { concurrency: 4, unknownTypeSeconds: 0 });
    const [dying, neighbour] = await add({ type: "constructor", max_attempts: 1 }, {});
    await eventually(async () => expect((await read(dying))?.status).toBe("dead"));
    expect((await read(dying))?.last_error?.slice(0, error.length)).toBe(error);
    await becomes(neighbour, { status: "succeeded", result: "fine" });
  });

  test("an error can say when to try again", async () => {
    work(
      [
        defineHandler("noop", any, (_payload, { job }) => {
          if (job.attempt === 1) throw new RetryAfterError("busy", 40);
        }),
      ],
      { backoff: { baseSeconds: 3_600, maxSeconds: 3_600, jitterMaxSeconds: 0 } },
    );
    const [id] = await add({});
    await becomes(id, { status: "succeeded", attempts: 2 });
  });

  test.each([NaN, Infinity, -Infinity])("a delay of %s counts as none given", async (delay_ms) => {
    work([
      defineHandler("noop", any, (_payload, { job }) => {
        if (job.attempt === 1) throw new RetryAfterError("busy", delay_ms);
      }),
    ]);
    const [id] = await add({});
    await becomes(id, { status: "succeeded", attempts: 2 });
  });

  test("the last error's data is kept with the dead job, that of earlier ones is not", async () => {
    work([
      defineHandler("noop", any, (_payload, { job }) => {
        throw Object.assign(new Error("no tea"), { data: { attempt: job.attempt } });
      }),
    ]);
    const [id] = await add({ max_attempts: 2 });
    await becomes(id, { status: "dead", last_error: "Error: no tea", result: { error_data: { attempt: 2 } } });
  });

  test("a job's own timeout takes precedence over its handler's", async () => {
    work([defineHandler("noop", any, () => new Promise(() => {}), { timeoutSeconds: 3_600 })]);
    const [id] = await add({ timeout_seconds: 1, max_attempts: 1 });
    await becomes(id, { status: "dead", last_error: "TimeoutError: the handler ran longer than 1 s" });
  });
});
