import { expect, test } from "vitest";
import { any, workerHarness } from "../test/harness.ts";
import { isolatedHandlers } from "../test/isolated-handlers.ts";
import { defineHandler, type HandlerMiddleware } from "./handler.ts";

const { add, becomes, work } = workerHarness();

test("each goes around the handler, in order, and what it returns is the result", async () => {
  const seen: unknown[] = [];
  const around =
    (name: string): HandlerMiddleware =>
    async ({ job, type, queue, attempt, payload, signal }, next) => {
      seen.push([name, job.id, type, queue, attempt, payload, signal.aborted]);
      const result = await next();
      seen.push([name, result]);
      return `${name}(${String(result)})`;
    };
  const handler = defineHandler("noop", any, ({ n }) => {
    seen.push("handler");
    return n;
  });
  const [id] = await add({ queue: "mail", payload: { n: 7 } });
  work([handler], { queues: ["mail"], middleware: [around("a"), around("b")] });
  await becomes(id, { status: "succeeded", result: "a(b(7))" });
  const about = [id, "noop", "mail", 1, { n: 7 }, false];
  expect(seen).toEqual([["a", ...about], ["b", ...about], "handler", ["b", 7], ["a", "b(7)"]]);
});

test("one that throws fails the attempt, before the handler or after it, and so does a second next()", async () => {
  let ran = 0;
  const middleware: HandlerMiddleware[] = [
    async ({ type }, next) => {
      if (type === "before") throw new Error("not allowed");
      const result = await next();
      if (type === "after") throw new Error("not good");
      return type === "twice" ? next() : result;
    },
  ];
  const types = ["before", "after", "twice", "caught"];
  const handlers = types.map((type) => defineHandler(type, any, () => void (ran += 1)));
  const ids = await add(...types.map((type) => ({ type, max_attempts: 1 })));
  work(handlers, { middleware });
  await becomes(ids[0], { status: "dead", last_error: "Error: not allowed" });
  await becomes(ids[1], { status: "dead", last_error: "Error: not good" });
  await becomes(ids[2], { status: "dead", last_error: "Error: a middleware called next() twice" });
  await becomes(ids[3], { status: "succeeded" });
  expect(ran).toBe(3);
});

test("around a handler in its own process it sees the result and the error", async () => {
  const seen: unknown[] = [];
  const middleware: HandlerMiddleware = async ({ type }, next) => {
    try {
      const result = await next();
      seen.push([type, result]);
      return type === "sum" ? { changed: result } : result;
    } catch (error) {
      seen.push([type, String(error)]);
      throw error;
    }
  };
  work(isolatedHandlers, { middleware: [middleware] });
  const [sum, spawns, exit, refuse] = await add(
    { type: "sum", payload: { a: 2 } },
    { type: "spawns", payload: { n: 1 } },
    { type: "exit", max_attempts: 1 },
    { type: "refuse", max_attempts: 5 },
  );
  const says = "ProcessError: the handler's process exited with code 3";
  await becomes(exit, { status: "dead", last_error: says });
  // The outcome is the process' own: it is not retried.
  await becomes(refuse, { status: "dead", attempts: 1, last_error: "DoNotRetryError: it cannot help" });
  await becomes(spawns, { status: "succeeded", result: "spawned" });
  await becomes(sum, { status: "succeeded", result: { changed: expect.anything() } });
  expect(seen).toContainEqual(["exit", says]);
  expect(seen).toContainEqual(["refuse", "Error: DoNotRetryError: it cannot help"]);
});
