import { eventually } from "@atlasqueue/testing";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { call, longPollHarness, never } from "../../test/long-poll.ts";
import type { Database } from "../database/connect.ts";
import { onBehalfOf } from "../database/pool/on-behalf-of.ts";
import { claimReady } from "../lease/claim.ts";
import { heartbeat } from "../lease/heartbeat.ts";
import { recoverExpired } from "../lease/recover.ts";
import { memorySignal } from "../signal/memory/signal.ts";

const { open, recorded, sql, database, longPoll, add, read, takeTurns } = longPollHarness();

/** A database whose answers to claims are delayed until the promise returned by `hold`. */
const lateClaims = (hold: () => Promise<unknown>): Database => ({
  ...database(),
  sql: new Proxy(sql(), {
    get(real, name) {
      if (name !== "unsafe") return Reflect.get(real, name) as unknown;
      return (text: string, ...rest: [string[], object]) => {
        const query = real.unsafe(text, ...rest);
        if (!text.includes("attempts = attempts + 1")) return query;
        const then = query.then.bind(query);
        const held = async (rows: unknown) => {
          await hold();
          return rows;
        };
        return Object.assign(query, {
          then: (...on: Parameters<Promise<unknown>["then"]>) => then(held as never).then(...on),
        });
      };
    },
  }),
});

describe("a claim whose answer comes after its lease has ended", () => {
  const lease_seconds = 3;
  // This process's clock, which tells whether an answer is late.
  const now = performance.now.bind(performance);
  let gone_by_ms = 0;
  beforeEach(() => {
    gone_by_ms = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + gone_by_ms);
  });
  /** More than a third of the lease passes, and the rest soon after. */
  const ends = async () => {
    gone_by_ms += 1_050;
    await sql()`UPDATE atlasqueue.jobs SET locked_until = now()`;
    await sql()`UPDATE atlasqueue.claims SET check_at = now()`;
  };
  const openWith = (hold: () => Promise<unknown>) => open(memorySignal(), lateClaims(hold));

  test("hands out nothing that another worker has by now", async () => {
    const others: unknown[] = [];
    openWith(async () => {
      await ends();
      const plain = { database: database(), observe: recorded.observe };
      await recoverExpired(plain, 50);
      others.push(...(await claimReady(plain, 1, { ...call({ worker_id: "other" }), queues: ["default"] })));
    });
    const [id = ""] = await add({});
    expect(await longPoll().lease(call({ wait_ms: 0, lease_seconds }), never)).toEqual([]);
    expect(others).toMatchObject([{ id }]);
    expect(await read(id)).toMatchObject({ status: "running", worker_id: "other" });
  });

  test("hands out what has not been recovered yet, with a full lease again", async () => {
    openWith(ends);
    const [id = ""] = await add({});
    const [job] = await longPoll().lease(call({ wait_ms: 0, lease_seconds }), never);
    const stored = await read(id);
    expect(job).toMatchObject({ id, attempts: 1, locked_until: stored?.locked_until });
    const [row] = await sql()<{ renewed: boolean }[]>`
      SELECT locked_until > started_at + make_interval(secs => ${lease_seconds}) AS renewed FROM atlasqueue.jobs WHERE id = ${id}`;
    expect(row?.renewed).toBe(true);
  });

  test("is not late for having waited for its tenant's turn before it was sent", async () => {
    open(memorySignal());
    const [id = ""] = await add({});
    const leaveTurns = takeTurns();
    const leased = longPoll().lease(call({ wait_ms: 0, lease_seconds }), never);
    await eventually(() => expect(database().turns.waiting()).toBe(2));
    gone_by_ms += 1_050;
    leaveTurns();
    expect(await leased).toMatchObject([{ id, attempts: 1 }]);
    const [row] = await sql()<{ renewed: boolean }[]>`
      SELECT locked_until > started_at + make_interval(secs => ${lease_seconds}) AS renewed FROM atlasqueue.jobs WHERE id = ${id}`;
    expect(row?.renewed).toBe(false);
  });

  test("waits for no second turn, when some of the ids are not to be had", async () => {
    let leaveTurns: (() => void) | undefined;
    openWith(async () => (leaveTurns ??= takeTurns()));
    const [gone = "", id = ""] = await add({}, {});
    await sql()`UPDATE atlasqueue.jobs SET status = 'succeeded', ready_at = NULL WHERE id = ${gone}`;
    const leased = longPoll().lease(call({ wait_ms: 0, jobs_max: 2, lease_seconds }), never);
    expect(await leased.finally(() => leaveTurns?.())).toMatchObject([{ id, attempts: 1 }]);
    expect(recorded.named("database_unavailable")).toEqual([]);
  });

  test("is renewed at once, though its tenant's statements wait for their turns", async () => {
    let leaveTurns = () => {};
    openWith(async () => {
      await ends();
      leaveTurns = takeTurns();
    });
    const [id = ""] = await add({});
    const leased = longPoll().lease(call({ wait_ms: 0, lease_seconds }), never);
    expect(await leased.finally(() => leaveTurns())).toMatchObject([{ id, attempts: 1 }]);
  });
});

test.each(["whose wait is over", "whose caller hangs up"])(
  "a call %s before it has its turn claims nothing, and its jobs go to others",
  async (what) => {
    open(memorySignal());
    const [id] = await add({});
    const leaveTurns = takeTurns();
    const caller = new AbortController();
    const asked = longPoll().lease(call({ wait_ms: what === "whose wait is over" ? 300 : 60_000 }), caller.signal);
    await eventually(() => expect(database().turns.waiting()).toBe(2));
    if (what === "whose caller hangs up") caller.abort();
    expect(await asked).toEqual([]);
    leaveTurns();
    expect(await longPoll().lease(call({ wait_ms: 0 }), never)).toMatchObject([{ id, attempts: 1 }]);
    expect(recorded.named("lease_acquired")).toHaveLength(1);
  },
);

test("a heartbeat goes ahead of what else waits for its tenant", async () => {
  open(memorySignal());
  await add({}, {});
  const [job] = await longPoll().lease(call({ wait_ms: 0 }), never);
  if (!job) throw new Error("nothing was leased");
  const leaveTurns = takeTurns();
  const order: string[] = [];
  const leased = longPoll()
    .lease(call({ wait_ms: 0 }), never)
    .then(() => order.push("lease"));
  await eventually(() => expect(database().turns.waiting()).toBe(2));
  const own = { database: onBehalfOf(database(), { tenant: "default" }), observe: recorded.observe };
  const beaten = heartbeat(own, "default", { ...job, lease_seconds: 30 }).then(({ kind }) => order.push(kind));
  await eventually(() => expect(database().turns.waiting()).toBe(3));
  leaveTurns();
  await Promise.all([leased, beaten]);
  expect(order).toEqual(["extended", "lease"]);
});
