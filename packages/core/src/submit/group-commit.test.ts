import { submission } from "@atlasqueue/harness";
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

test("a refused batch is sent in halves, a refused half one by one, and one that is locked alone comes again later", async () => {
  const sent: string[] = [];
  const locked = Object.assign(new Error("locked"), { code: "55P03", severity: "ERROR" });
  let free = false;
  const line = createGroupCommit<number, string>(async (items, { postponed }) => {
    sent.push(`${postponed ? "postponed " : ""}${items.join()}`);
    if (items.includes(6) && !free) throw locked;
    return items.map((item) => `${item} is stored`);
  }, 5_000);
  const answers = Array.from({ length: 8 }, (_each, nr) => line.submit(nr, 1));
  await Promise.all(answers.filter((_one, nr) => nr !== 6));
  free = true;
  expect(await answers[6]).toBe("6 is stored");
  await line.idle();
  expect(sent.slice(0, 7)).toEqual([
    "0,1,2,3,4,5,6,7",
    "postponed 0,1,2,3",
    "postponed 4,5,6,7",
    "postponed 4",
    "postponed 5",
    "postponed 6",
    "postponed 7",
  ]);
});
