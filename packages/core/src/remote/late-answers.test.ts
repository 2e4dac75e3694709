import { eventually } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { call, longPollHarness, never } from "../../test/long-poll.ts";
import { forTenant } from "../database/pool/fair-share.ts";
import { heartbeat } from "../lease/extend.ts";
import { memorySignal } from "../signal/memory/signal.ts";

const { open, recorded, database, leases, add, takeTurns } = longPollHarness();

test.each(["whose wait is over", "whose caller hangs up"])("a call %s before its turn claims nothing", async (what) => {
  open(memorySignal());
  const [id] = await add({});
  const leaveTurns = takeTurns();
  const caller = new AbortController();
  const asked = leases(call({ wait_ms: what === "whose wait is over" ? 300 : 60_000 }), caller.signal);
  await eventually(() => expect(database().turns.rest.waiting()).toBe(1));
  if (what === "whose caller hangs up") caller.abort();
  expect(await asked).toEqual([]);
  leaveTurns();
  expect(await leases(call({ wait_ms: 0 }), never)).toMatchObject([{ id, attempts: 1 }]);
  expect(recorded.named("lease_acquired")).toHaveLength(1);
});

test("a heartbeat goes ahead of what else waits for its tenant", async () => {
  open(memorySignal());
  await add({}, {});
  const [job] = await leases(call({ wait_ms: 0 }), never);
  if (!job) throw new Error("nothing was leased");
  const leaveTurns = takeTurns();
  const leased = leases(call({ wait_ms: 0 }), never);
  await eventually(() => expect(database().turns.rest.waiting()).toBe(1));
  const own = { database: forTenant(database(), { tenant: "default" }), observe: recorded.observe };
  expect(await heartbeat(own, "default", { ...job, lease_seconds: 30 })).toMatchObject({ kind: "extended" });
  leaveTurns();
  expect(await leased).toHaveLength(1);
});
