import { queueLimits } from "@atlasqueue/contract";
import { expect } from "vitest";
import { purge } from "../../../src/dead-letters/purge.ts";
import { replay } from "../../../src/dead-letters/replay.ts";
import { cancel } from "../../../src/jobs/cancel.ts";
import { deleteFinished } from "../../../src/jobs/delete.ts";
import { retry, retryAmongOthers } from "../../../src/jobs/retry.ts";
import { noteBlockedGroups, setLimits } from "../../../src/limits/set.ts";
import { pauseQueue, resumeQueue } from "../../../src/queues/pause.ts";
import { memorySignal } from "../../../src/signal/memory/signal.ts";
import { sendSignal } from "../../../src/steps/signal.ts";
import * as deciding from "../deciding.ts";
import { idsOf, tenant, type Real } from "../real.ts";
import { type Model, type ModelQueue } from "../state.ts";
import * as upkeep from "../upkeep.ts";
import { type Act, queues, one, jobsIn } from "./choices.ts";

async function limit(model: Model, real: Real, queue: string, change: Partial<ModelQueue>): Promise<void> {
  const before = model.queues.get(queue) ?? { paused: false, concurrency: null, group_concurrency: null };
  const now = { ...before, ...change };
  model.queues.set(queue, now);
  const limits = queueLimits.parse({ concurrency: now.concurrency, group_concurrency: now.group_concurrency });
  const { groups_widened } = await setLimits(real.deps, { tenant, queue }, limits);
  expect(groups_widened).toBe((now.group_concurrency ?? 1) > (before.group_concurrency ?? 1));
  if (!groups_widened) return;
  upkeep.noteBlockedGroups(model, queue);
  await noteBlockedGroups(real.deps, { tenant, queue }, "", 100);
}

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
      const { kind } = await (does_without ? retry : retryAmongOthers)(real.deps, tenant, real.ids[n] ?? "");
      expect(kind).toBe(deciding.retry(model, n, does_without));
    }
  },
  replay: async (model, real, draw) => {
    const wanted = jobsIn(model, draw, 6, "dead");
    const ids: string[] = [];
    await replay(real.deps, pageOf(real, wanted), async (revived) => void ids.push(...revived.ids));
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
  "pause or resume": async (model, real, draw) => {
    const queue = one(draw, queues);
    const known = model.queues.get(queue) ?? { paused: false, concurrency: null, group_concurrency: null };
    model.queues.set(queue, { ...known, paused: !known.paused });
    if (known.paused) await resumeQueue({ ...real.deps, signal: memorySignal() }, { tenant, queue });
    else await pauseQueue(real.deps, { tenant, queue });
  },
};
