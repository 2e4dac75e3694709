import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { errorText, readThrown } from "../index.ts";

test("a request that no server takes says where it went and why it failed", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const failed = await fetch(`http://127.0.0.1:${port}`).catch((error: unknown) => error);
  expect(errorText(failed)).toBe(`TypeError: fetch failed; cause: Error: connect ECONNREFUSED 127.0.0.1:${port}`);
});

test("the causes of a cause, and those in a list, are kept in order", () => {
  const deepest = new Error("disk full");
  const list = [new Error("first", { cause: deepest }), new RangeError("second"), "third"];
  const thrown = new Error("no mirror took it", { cause: new AggregateError(list, "all failed") });
  expect(errorText(thrown)).toBe(
    "Error: no mirror took it; cause: AggregateError: all failed; cause: Error: first; cause: RangeError: second; " +
      "cause: third; cause: Error: disk full",
  );
});

test("PostgreSQL's code is on the first line, and its detail, which differs from job to job, on a line of its own", () => {
  const refused = Object.assign(new Error("duplicate key value"), {
    name: "PostgresError",
    code: "23505",
    detail: "Key (id)=(17) already exists.",
  });
  const text = "PostgresError: duplicate key value (23505)";
  const detail = "\ndetail: Key (id)=(17) already exists.";
  expect(errorText(refused)).toBe(text + detail);
  const wrapped = new Error("Failed query", { cause: refused });
  expect(errorText(wrapped)).toBe(`Error: Failed query; cause: ${text}${detail}`);
  expect(readThrown(wrapped, "ResultError").error).toBe(`ResultError: Failed query; cause: ${text}${detail}`);
});

test("causes that are a cycle, endless, huge or break when they are read leave the rest of the text", () => {
  const cycle = new Error("one");
  cycle.cause = new Error("two", { cause: cycle });
  expect(errorText(cycle)).toBe("Error: one; cause: Error: two");

  let chain = new Error("0");
  for (let at = 1; at <= 10_000; at += 1) chain = new Error(String(at), { cause: chain });
  expect(errorText(chain)).toMatch(/^Error: 10000; cause: Error: 9999; .*; cause: Error: 9992$/);

  const huge = new Error("x".repeat(100_000), { cause: new Error("the reason") });
  expect(errorText(huge)).toHaveLength(4_096);
  expect(errorText(huge)).toMatch(/xxx; cause: Error: the reason$/);
  expect(errorText(new Error("x", { cause: new Error("y".repeat(100_000)) })).length).toBeLessThanOrEqual(4_096);
  expect(
    errorText(
      new AggregateError(
        Array.from({ length: 100_000 }, () => new Error("same")),
        "many",
      ),
    ),
  ).toMatch(/^AggregateError: many(; cause: Error: same){8}$/);

  const broken = Object.defineProperty(new Error("whole"), "cause", {
    get() {
      throw new Error("no");
    },
  });
  expect(errorText(broken)).toBe("Error: whole");
});
