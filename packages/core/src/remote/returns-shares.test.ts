import { submission } from "@atlasqueue/testing";
import { beforeEach, expect, test } from "vitest";
import { call, longPollHarness, never } from "../../test/long-poll.ts";
import { memorySignal } from "../signal/memory/signal.ts";
import { announce } from "../signal/announce.ts";
import { enqueue } from "../submit/enqueue.ts";

const { open, sql, deps, longPoll, add } = longPollHarness();
beforeEach(() => open(memorySignal()));

test("while one tenant's jobs are locked and cannot go back, others are given theirs", async () => {
  const greedy = Array.from({ length: 200 }, () => ({ ...submission(), tenant: "greedy" }));
  const stored = await enqueue(deps(), greedy, { idempotency_ttl_seconds: 60 });
  await announce(
    deps(),
    stored.flatMap((one) => ("job" in one ? [one.job] : [])),
  );
  const asks = { tenant: "greedy", jobs_max: 100, wait_ms: 0 };
  const held = [...(await longPoll().lease(call(asks), never)), ...(await longPoll().lease(call(asks), never))];
  expect(held).toHaveLength(200);
  const returned = await sql().begin(async (tx) => {
    await tx`SELECT FROM atlasqueue.jobs WHERE tenant = 'greedy' FOR UPDATE`;
    const back = held.map((lease) => longPoll().returns.giveBack([lease]));
    await expect(longPoll().lease(call(asks), never)).rejects.toThrow("did not answer");
    const [id] = await add({});
    expect((await longPoll().lease(call({ wait_ms: 0 }), never)).map((job) => job.id)).toEqual([id]);
    return back;
  });
  expect(await Promise.all(returned)).toEqual(held.map(() => 1));
});
