import { queueLimits } from "@atlasqueue/contract";
import { expect } from "vitest";
import { purge } from "../../../src/dead-letters/bulk.ts";
import { replay } from "../../../src/dead-letters/replay.ts";
import { cancel } from "../../../src/jobs/cancel.ts";
import { deleteFinished } from "../../../src/jobs/delete.ts";
import { retry } from "../../../src/jobs/retry.ts";
import { setLimits } from "../../../src/limits/set.ts";
import { pauseQueue, resumeQueue } from "../../../src/queues/pause.ts";
import { memorySignal } from "../../../src/signal/memory/signal.ts";
import { sendSignal } from "../../../src/steps/signal.ts";
import { countFromNow, hasMark } from "../rates.ts";
import * as deciding from "../deciding.ts";
import { idsOf, tenant, type Real } from "../real.ts";
import { queueOf, type Model, type ModelQueue } from "../state.ts";
import { markWidened } from "../../advance.ts";
import * as upkeep from "../upkeep.ts";
import { type Act, queues, one, jobsIn } from "./choices.ts";

async function limit(model: Model, real: Real, queue: string, change: Partial<ModelQueue>): Promise<void> {
  const before = queueOf(model, queue);
  // Where groups take turns there is no other limit.
  const alone = change.in_turns ? { concurrency: null, rate: null, group_rate: null } : { in_turns: false };
  const now = { ...before, ...(change.group_concurrency === undefined && alone), ...change };
  countFromNow(model, queue, before, now);
  model.queues.set(queue, now);
  const { concurrency, group_concurrency, rate, group_rate, in_turns } = now;
  const fair_by = in_turns ? "group" : null;
  const limits = queueLimits.parse({ concurrency, group_concurrency, rate, group_rate, fair_by });
  const { groups_widened, marked } = await setLimits(real.deps, { tenant, queue }, limits);
  expect(marked).toBe(hasMark(now));
  expect(groups_widened).toBe((group_concurrency ?? 1) > (before.group_concurrency ?? 1));
  if (!groups_widened) return;
  upkeep.markBlockedGroups(model, queue);
  await markWidened(real.deps);
}

const rates = [null, { limit: 1, period_seconds: 10 }, { limit: 3, period_seconds: 40 }];

const pageOf = (real: Real, jobs: readonly number[]) => ({
  kind: "ids" as const,
  tenant,
  ids: idsOf(real, jobs),
  rest: [],
  until_us: Number.MAX_SAFE_INTEGER,
});

/** What people do. */
export const people: Record<string, Act> = {
  cancel: async (model, real, draw) => {
    for (const n of jobsIn(model, draw, 1, "scheduled", "blocked", "queued", "running", "failed"))
      expect((await cancel(real.deps, tenant, real.ids[n] ?? "")).kind).toBe(deciding.cancel(model, n));
  },
  retry: async (model, real, draw) => {
    const does_without = draw(3) > 0;
    for (const n of jobsIn(model, draw, 1, "dead", "cancelled", "failed")) {
      const decided = deciding.retry(model, n, does_without);
      if (does_without) expect((await retry(real.deps, tenant, real.ids[n] ?? "")).kind).toBe(decided);
      else {
        const { ids } = await replay(real.deps, { ...pageOf(real, [n]), kind: "stopped" });
        expect(ids).toEqual(decided === "retried" ? [real.ids[n]] : []);
      }
    }
  },
  replay: async (model, real, draw) => {
    const wanted = jobsIn(model, draw, 6, "dead");
    const { ids } = await replay(real.deps, pageOf(real, wanted));
    expect(ids.toSorted()).toEqual(idsOf(real, deciding.replay(model, wanted)).toSorted());
  },
  purge: async (model, real, draw) => {
    const wanted = jobsIn(model, draw, 3, "dead");
    const { ids } = await purge(real.deps, pageOf(real, wanted));
    expect(ids.toSorted()).toEqual(idsOf(real, deciding.purge(model, wanted)).toSorted());
  },
  delete: async (model, real, draw) => {
    const wanted = jobsIn(model, draw, 2, "dead", "succeeded", "cancelled");
    const { ids } = await deleteFinished(real.deps, tenant, idsOf(real, wanted));
    expect(ids.toSorted()).toEqual(idsOf(real, deciding.deleteFinished(model, wanted)).toSorted());
  },
  signal: async (model, real, draw) => {
    for (const n of jobsIn(model, draw, 1, "scheduled")) {
      const { kind } = await sendSignal(real.deps, tenant, real.ids[n] ?? "", "go", null);
      expect(kind).toBe(deciding.signal(model, n, "go"));
    }
  },
  "set the concurrency": (model, real, draw) =>
    limit(model, real, one(draw, queues), { concurrency: one(draw, [null, 1, 2]) }),
  "set the concurrency of groups": (model, real, draw) =>
    limit(model, real, one(draw, queues), { group_concurrency: one(draw, [null, 1, 2]) }),
  "set the rate": (model, real, draw) => limit(model, real, one(draw, queues), { rate: one(draw, rates) }),
  "set the rate of groups": (model, real, draw) =>
    limit(model, real, one(draw, queues), { group_rate: one(draw, rates) }),
  "take turns": (model, real, draw) => limit(model, real, one(draw, queues), { in_turns: draw(3) > 0 }),
  "pause or resume": async (model, real, draw) => {
    const queue = one(draw, queues);
    const known = queueOf(model, queue);
    model.queues.set(queue, { ...known, paused: !known.paused });
    if (known.paused) await resumeQueue({ ...real.deps, signal: memorySignal() }, { tenant, queue });
    else await pauseQueue(real.deps, { tenant, queue });
  },
};
