import { eventually, recordEvents } from "@atlasqueue/harness";
import { afterEach, beforeEach, expect, test } from "vitest";
import { engineHarness, main } from "../test/engine-harness.ts";
import type { Sql } from "./database/connect.ts";
import { createFollowUps, type FollowUps } from "./follow-ups.ts";
import { retry } from "./jobs/retry.ts";

const { deps, add, die, limit } = engineHarness();
let followUps: FollowUps;
let finished: string[];

beforeEach(async () => {
  followUps = createFollowUps(deps);
  finished = [];
  deps.signal.notices.listen("finished", (ids) => void finished.push(...ids));
});
afterEach(() => followUps.stop());

test("a final job is announced to those waiting, and a dead one is listed too; a retry is neither", async () => {
  const job = { ...main, type: "t", group_key: null };
  await followUps.settled([
    { job: { ...job, id: "a" }, became: "succeeded" },
    { job: { ...job, id: "b" }, became: "dead" },
    { job: { ...job, id: "c" }, became: { due_in_ms: 60_000 } },
  ]);
  expect(finished).toEqual(["a", "b"]);
  expect(await deps.signal.deadLetters.page(0, 10)).toEqual(["b"]);
});

test("the next job of a group goes when the one before it dies", async () => {
  const [first = "", next] = await add({ group: "g" }, { group: "g" });
  const [outcome] = await die(first);
  const ready = outcome?.kind === "dead" ? outcome.ready : [];
  await followUps.settled([{ job: { ...main, id: first, type: "t", group_key: "g" }, became: "dead", ready }]);
  await eventually(async () => expect((await deps.signal.take([main], 10)).ids).toEqual([next]));
});

test("a retried job that dies again before leaving the list of dead letters stays in it", async () => {
  const [id = ""] = await add({});
  await die(id);
  const { deadLetters } = deps.signal;
  await deadLetters.add([id]);
  expect((await retry(deps, "default", id)).kind).toBe("retried");
  const remove = deadLetters.remove.bind(deadLetters);
  deadLetters.remove = async (ids) => {
    await die(id);
    // Still in the list, so this adds nothing.
    expect(await deadLetters.add([id])).toBe(0);
    return remove(ids);
  };
  await followUps.retried({ ready: [], were_dead: [id] });
  expect(await deadLetters.page(0, 10)).toEqual([id]);
});

test("a limited queue's next job is offered when one is cancelled, and when the limits change", async () => {
  const changed = await limit({ concurrency: 1 });
  const [id] = await add({});
  followUps.limitsChanged(main, changed);
  await eventually(async () => expect((await deps.signal.take([main], 10)).ids).toEqual([id]));
  const [job] = await deps.database.sql`SELECT * FROM atlasqueue.jobs`;
  await followUps.cancelled([job] as unknown as Parameters<FollowUps["cancelled"]>[0], []);
  await eventually(async () => expect((await deps.signal.take([main], 10)).ids).toEqual([id]));
});

test("a database outage is reported and fails no follow-up: the move itself was committed", async () => {
  const recorded = recordEvents();
  const refuse = async () => {
    throw Object.assign(new Error("connection refused"), { code: "ECONNREFUSED" });
  };
  const away = { ...deps.database, sql: { unsafe: refuse, begin: refuse } as unknown as Sql };
  const own_follow_ups = createFollowUps({ ...deps, database: away, observe: recorded.observe });
  await own_follow_ups.retried({ ready: [], were_dead: ["00000000-0000-0000-0000-000000000000"] });
  await own_follow_ups.stop();
  const during = recorded.named("database_unavailable").map((event) => "during" in event && event.during);
  expect(during.toSorted()).toEqual(["draining the outbox", "following up"]);
});
