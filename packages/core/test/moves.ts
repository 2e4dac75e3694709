import { bulkJobs } from "../src/jobs/bulk.ts";
import { deleteFinished } from "../src/jobs/delete.ts";
import { editAndRetry } from "../src/jobs/edit-and-retry.ts";
import type { DeadPage } from "../src/dead-letters/pages.ts";
import { purge } from "../src/dead-letters/purge.ts";
import { replay } from "../src/dead-letters/replay.ts";
import { stepReplay } from "../src/dead-letters/replays/step.ts";
import { promoteDue } from "../src/maintenance/promote.ts";
import { firstId, prune } from "../src/maintenance/prune.ts";
import { fireSchedules } from "../src/schedules/fire.ts";
import { admitAll } from "../src/submit/arrivals/admitter.ts";
import { closeEdges } from "../src/flows/close-edges.ts";
import { releaseChildren } from "../src/flows/release-children.ts";
import { isLocked, isUnavailable } from "../src/database/errors.ts";
import { advanceGroups } from "../src/groups/advance.ts";
import { cancel } from "../src/jobs/cancel.ts";
import { claim, claimReady } from "../src/lease/claim.ts";
import { complete } from "../src/settle/complete.ts";
import { completeAndTakeNext } from "../src/settle/complete-and-take-next.ts";
import { extendLeases } from "../src/lease/extend.ts";
import { heartbeat } from "../src/lease/heartbeat.ts";
import { fail } from "../src/settle/fail.ts";
import { recallLeases } from "../src/lease/recall.ts";
import { recoverExpired } from "../src/lease/recover.ts";
import type { Lease } from "../src/lease/lease.ts";
import { release } from "../src/lease/release.ts";
import { retry } from "../src/jobs/retry.ts";
import { park } from "../src/steps/park.ts";
import { sendSignal } from "../src/steps/signal.ts";
import { storeStep } from "../src/steps/store.ts";
import { takeBack } from "../src/lease/take-back.ts";
import type { Move } from "./pairs.ts";
import type { World } from "./world.ts";

type Moves = Readonly<Record<string, Move<World>>>;
/** Its caller repeats it. */
const mayBeLate = (error: unknown): void => {
  if (!isUnavailable(error)) throw error;
};
const retrying = { kind: "retry", delay_ms: 0 } as const;

/** Moves of many jobs: they must not wait for one that is locked. */
export const batches: Moves = {
  claim: async ({ claimer, plain, limited, group, taken }, deps) =>
    taken.push(...(await claim(deps, [...plain, ...group, ...limited], claimer))),
  "claim by age": async ({ claimer, taken }, deps) => taken.push(...(await claimReady(deps, 20, claimer))),
  extend: ({ leases }, deps) => extendLeases(deps, leases, 30),
  complete: ({ leases }, deps) =>
    complete(
      deps,
      leases.map((lease) => ({ lease, result: 1 })),
    ),
  "complete and take the next": async ({ leases, taken, claimer }, deps) => {
    const completions = leases.map((lease) => ({ lease, result: 1 }));
    const done = await completeAndTakeNext(deps, completions, { ...claimer, after: leases.map(({ id }) => id) });
    taken.push(...done.next.values());
  },
  fail: ({ leases }, deps) =>
    fail(
      deps,
      leases.map((lease) => ({ lease, error: "x", verdict: retrying })),
    ),
  release: ({ leases }, deps) => release(deps, leases),
  // It gives up on a claim's locked row, and its caller repeats it.
  "take back": async ({ leases }, deps) =>
    takeBack(deps, leases[0]?.lease_token ?? "").catch((error: unknown) => {
      if (!isLocked(error)) throw error;
    }),
  recover: (_world, deps) => recoverExpired(deps, 50),
  recall: ({ tenant, claimer }, deps) =>
    recallLeases(deps, { tenant, id: claimer.worker_id, lease_seconds: 30 }, 0, 50),
  "advance groups": (_world, deps) => advanceGroups(deps, 100),
  "close edges": (_world, deps) => closeEdges(deps, 100),
  "release children": (_world, deps) => releaseChildren(deps, 100),
};

/** Moves of one job: they wait for it, and for nothing else. */
export const singles: Moves = {
  // It shortens the lease, and so moves when the sweep looks at its claim as well.
  heartbeat: ({ tenant, held, leases }, deps) =>
    heartbeat(deps, tenant, { id: held, lease_token: leases[0]?.lease_token ?? "", lease_seconds: 20, progress: 1 }),
  "cancel a running job": ({ tenant, held }, deps) => cancel(deps, tenant, held),
  "cancel in a group": ({ tenant, group }, deps) => cancel(deps, tenant, String(group[0])),
  "cancel a blocked job": ({ tenant, group }, deps) => cancel(deps, tenant, String(group[1])),
  retry: ({ tenant, dead }, deps) => retry(deps, tenant, dead),
  "cancel a parent": ({ tenant, flow }, deps) => cancel(deps, tenant, flow.under_way),
  "retry a parent": ({ tenant, flow }, deps) => retry(deps, tenant, flow.dead),
  "retry a child": ({ tenant, flow }, deps) => retry(deps, tenant, flow.stopped),
  "store a step": ({ leases: [lease] }, deps) => storeStep(deps, lease as Lease, "a", 1).catch(mayBeLate),
  park: ({ leases: [lease] }, deps) => park(deps, lease as Lease, "go", 3_600).catch(mayBeLate),
  "park in a group": ({ leases: [, lease] }, deps) => park(deps, lease as Lease, "go", 3_600).catch(mayBeLate),
  "signal a running job": ({ tenant, held }, deps) => sendSignal(deps, tenant, held, "go", 1).catch(mayBeLate),
  "signal a parked job": ({ tenant, parked }, deps) => sendSignal(deps, tenant, parked, "go", 1).catch(mayBeLate),
  "enqueue plain": ({ addWith }, deps) => addWith(deps, {}, {}),
  "enqueue grouped": ({ addWith }, deps) => addWith(deps, { group: "g" }, { group: "other" }),
  "enqueue unique": ({ addWith }, deps) => addWith(deps, { unique: { key: "u2", on_conflict: "return" } }),
  // Beside another one stopped while holding the key, the caller is told to come again.
  "enqueue to replace": ({ addWith }, deps) =>
    addWith(deps, { unique: { key: "u", on_conflict: "replace" } }).catch((error: unknown) => {
      if (!isUnavailable(error)) throw error;
    }),
};

const deadPage = ({ tenant, dead_letters }: World): DeadPage => ({
  kind: "ids",
  tenant,
  ids: dead_letters,
  rest: [],
  until_us: Number.MAX_SAFE_INTEGER,
});
const nothingFollows = {
  admitted: async () => {},
  revived: async () => {},
  cancelled: async () => {},
  retried: async () => {},
  noLongerDead: async () => {},
};

/** What people and the background do to jobs: these wait for nothing. */
export const acts: Moves = {
  replay: (world, deps) => replay(deps, deadPage(world), nothingFollows.revived),
  "a step of a replay": (_world, deps) => stepReplay(deps, nothingFollows.revived),
  "purge dead letters": (world, deps) => purge(deps, deadPage(world)),
  delete: ({ tenant, finished, dead_letters }, deps) => deleteFinished(deps, tenant, [finished, ...dead_letters]),
  prune: (_world, deps) => prune(deps, { succeeded_hours: 0, dead_hours: 0 }, firstId, 100),
  promote: (_world, deps) => promoteDue(deps, 50),
  fire: ({ schedule }, deps) => fireSchedules(deps, [schedule]),
};

/** And these for one job at a time, and its group. */
export const actsOnOne: Moves = {
  admit: (_world, deps) => admitAll({ ...deps, followUps: nothingFollows }),
  edit: ({ tenant, dead_letters }, deps) =>
    editAndRetry(deps, tenant, String(dead_letters[0]), { patch: { edited: true } }, 1_000),
  "bulk purge": ({ tenant, group, arrived }, deps) =>
    bulkJobs(
      { ...deps, followUps: nothingFollows },
      tenant,
      "purge",
      { ids: [String(group[1]), arrived] },
      { dry_run: false },
    ),
};
