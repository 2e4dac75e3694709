import { submission } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { DatabaseTimeoutError, outcomeUnknown } from "../database/errors.ts";
import { NoRoomError } from "../shares.ts";
import { createGroupCommit } from "./group-commit.ts";

test("a request whose key is taken again and again is refused at its deadline, wherever it is at that moment", async () => {
  const timeout_ms = 150;
  // Nothing is ever stored, as while an open transaction holds the job that a request wants to replace.
  const line = createGroupCommit(async (submissions) => submissions.map(() => undefined), timeout_ms);
  const begun = performance.now();
  // One after another, so that their deadlines fall into rests as well as between them.
  const refusals: Promise<unknown>[] = [];
  for (let count = 0; count < 20; count += 1) {
    refusals.push(line.submit(submission({}), 10).catch((error: unknown) => error));
    await new Promise((resolve) => setTimeout(resolve, 7));
  }
  for (const refusal of refusals) expect(await refusal).toBeInstanceOf(DatabaseTimeoutError);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(timeout_ms);
  await line.idle();
}, 10_000);

test("jobs that may have been stored are not sent again, whatever the reason; those that were refused are", async () => {
  const sent: number[] = [];
  const reasons = [
    new TypeError("an answer nobody expected"),
    Object.assign(new Error("a bad row"), { code: "22021", severity: "ERROR" }),
  ];
  const line = createGroupCommit(async (submissions) => {
    sent.push(submissions.length);
    const reason = reasons.shift();
    if (reason) throw reason;
    return submissions.map(() => ({ kind: "mismatch" }));
  }, 5_000);
  const four = () => Promise.allSettled(Array.from({ length: 4 }, () => line.submit(submission({}), 10)));
  expect((await four()).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => "rejected"));
  expect((await four()).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => "fulfilled"));
  expect(sent).toEqual([4, 4, 2, 2]);
});

test("holders take turns: one request is not behind all of another's, and finds room beside them", async () => {
  type Asked = { tenant: string; nr: number };
  const batches: (readonly Asked[])[] = [];
  const line = createGroupCommit<Asked, { kind: "stored" }>(
    async (asked) => {
      batches.push(asked);
      await new Promise((resolve) => setImmediate(resolve));
      return asked.map(() => ({ kind: "stored" as const }));
    },
    60_000,
    { holderOf: ({ tenant }) => tenant, rows_max: 10, waiting_max: 4_000 },
  );
  const add = (tenant: string, nr: number) => line.submit({ tenant, nr }, 10);
  const greedy = Array.from({ length: 5_000 }, (_each, nr) =>
    add("greedy", nr).then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  const modest = [add("modest", 0), add("modest", 1)];
  expect(await Promise.all(modest)).toEqual([{ kind: "stored" }, { kind: "stored" }]);
  expect(batches.length).toBeLessThanOrEqual(3);
  const refused = (await Promise.all(greedy)).filter((error) => error !== undefined);
  expect(refused).toHaveLength(2_000);
  expect(refused[0]).toBeInstanceOf(NoRoomError);
  expect(outcomeUnknown(refused[0])).toBe(false);
  const stored = batches.flat().filter(({ tenant }) => tenant === "greedy");
  expect(stored.map(({ nr }) => nr)).toEqual(Array.from({ length: 3_000 }, (_each, nr) => nr));
  // The room is theirs again.
  expect(await add("greedy", 0)).toEqual({ kind: "stored" });
}, 60_000);

test("once it is given up, what is on its way has its outcome, and what waits is rejected", async () => {
  const stored = Promise.withResolvers<void>();
  const sent: string[] = [];
  const line = createGroupCommit<string, string>(
    async (items) => {
      sent.push(...items);
      await stored.promise;
      return items.map((item) => `${item} is stored`);
    },
    10_000,
    { rows_max: 1, flights_max: 1 },
  );
  const [first, second] = [line.submit("a", 1), line.submit("b", 1)];
  const refused = expect(second).rejects.toThrow(DatabaseTimeoutError);
  await new Promise(setImmediate);
  line.giveUp();
  await refused;
  stored.resolve();
  expect(await first).toBe("a is stored");
  await line.idle();
  expect(sent).toEqual(["a"]);
});

test("what fails after its caller was told to give up ends no process", async () => {
  const aside = Promise.withResolvers<string>();
  const stored = Promise.withResolvers<void>();
  const line = createGroupCommit<string, string>(async () => {
    await stored.promise;
    return [aside.promise];
  }, 10_000);
  const answers = Promise.allSettled([line.submit("a", 1)]);
  await new Promise(setImmediate);
  line.giveUp();
  stored.resolve();
  await line.idle();
  aside.reject(new Error("much later"));
  // A rejection that nobody handles fails the run.
  await new Promise(setImmediate);
  expect(await answers).toMatchObject([{ status: "rejected" }]);
});
