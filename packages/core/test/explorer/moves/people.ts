import { queueLimits } from "@atlasqueue/contract";
import { purge } from "../../../src/dead-letters/bulk.ts";
import { replay } from "../../../src/dead-letters/replay.ts";
import { createOperation } from "../../../src/operations/create.ts";
import { stepOperation } from "../../../src/operations/step.ts";
import type { DeadPage } from "../../../src/dead-letters/pages.ts";
import { bulkJobs } from "../../../src/jobs/bulk.ts";
import { cancel } from "../../../src/jobs/cancel.ts";
import { deleteFinished } from "../../../src/jobs/delete.ts";
import { editAndRetry } from "../../../src/jobs/edit-and-retry.ts";
import { retry } from "../../../src/jobs/retry.ts";
import { setLimits } from "../../../src/limits/set.ts";
import { pauseQueue, resumeQueue } from "../../../src/queues/pause.ts";
import { memorySignal } from "../../../src/signal/memory/signal.ts";
import { sendSignal } from "../../../src/steps/signal.ts";
import { markBlocked } from "../../advance.ts";
import { anybody, statesOf, type World } from "../world.ts";
import { mayBeLate, nothingFollows, ofMany, ofOne, type Moves } from "./move.ts";

const deadPage = ({ tenant, dead_letters }: World): DeadPage => ({
  kind: "ids",
  tenant,
  ids: dead_letters,
  rest: [],
  until_us: Number.MAX_SAFE_INTEGER,
});
const everyone = (world: World) => Object.keys(statesOf).map((state) => idIn(world, state));
const idIn = (world: World, state: string) => statesOf[state]?.id(world) ?? "";

/** To one job in each of these states; what cannot be done to it changes nothing. */
const toEach = (
  what: string,
  act: (world: World, deps: World["deps"], id: string) => Promise<unknown>,
  states: string,
) =>
  states.split(", ").map((state) =>
    ofOne(statesOf[state]?.about, {
      [`${what} a ${state} job`]: (world, deps) => act(world, deps, idIn(world, state)),
    }),
  );
const cancellable =
  "queued, running, lost, scheduled, due, failed, parked, limited, leading, blocked, just arrived, unique, parent, waiting child, finished";
const ofStates: Moves = Object.assign(
  {},
  ...toEach("cancel", ({ tenant }, deps, id) => cancel(deps, tenant, id).catch(mayBeLate), cancellable),
  ...toEach(
    "retry",
    ({ tenant }, deps, id) => retry(deps, tenant, id).catch(mayBeLate),
    "failed, dead, cancelled, dead parent, stopped child, running",
  ),
  ...toEach(
    "signal",
    ({ tenant }, deps, id) => sendSignal(deps, tenant, id, "go", 1).catch(mayBeLate),
    "queued, running, scheduled, parked, blocked, dead",
  ),
);
const bulk = (action: "cancel" | "retry" | "delete" | "purge") => (world: World, deps: World["deps"]) =>
  bulkJobs(
    { ...deps, followUps: nothingFollows },
    world.tenant,
    action,
    { ids: everyone(world) },
    { dry_run: false },
  ).catch(mayBeLate);

/** Of all jobs, by an operation that nothing else is due with. */
const pageOf = (kind: "cancel" | "retry" | "purge") => async (world: World, deps: World["deps"]) => {
  const before = { ...world.deps, followUps: nothingFollows };
  await before.database.sql`
    UPDATE atlasqueue.operations SET status = 'paused' WHERE id IN (SELECT id FROM atlasqueue.operations FOR UPDATE SKIP LOCKED)`;
  await createOperation(before, { tenant: world.tenant, kind, filter: {} }, anybody);
  await stepOperation(deps, async () => {}).catch(mayBeLate);
};

/** What people do to jobs. */
export const peopleMoves: Moves = {
  ...ofStates,
  ...ofMany({
    replay: (world, deps) => replay(deps, deadPage(world)).catch(mayBeLate),
    "a page of a replay": (_world, deps) => stepOperation(deps, async () => {}).catch(mayBeLate),
    "a page of a bulk cancel": pageOf("cancel"),
    "a page of a bulk retry": pageOf("retry"),
    "a page of a bulk purge": pageOf("purge"),
    "bulk cancel": bulk("cancel"),
    "bulk retry": bulk("retry"),
    "bulk purge": bulk("purge"),
    "purge dead letters": (world, deps) => purge(deps, deadPage(world)).catch(mayBeLate),
    delete: ({ tenant, finished, dead_letters }, deps) =>
      deleteFinished(deps, tenant, [finished, ...dead_letters]).catch(mayBeLate),
  }),
  // Job by job, each of which it may wait for.
  ...ofOne(undefined, {
    edit: ({ tenant, dead_letters }, deps) =>
      editAndRetry(deps, tenant, String(dead_letters[0]), { patch: { edited: true } }, 1_000).catch(mayBeLate),
  }),
  ...ofOne("limits", {
    "set limits": ({ tenant }, deps) =>
      setLimits(
        deps,
        { tenant, queue: "limited" },
        queueLimits.parse({ concurrency: 2, rate: { limit: 100, period_seconds: 1 } }),
      ).catch(mayBeLate),
    "pause and resume": async ({ tenant }, deps) => {
      await pauseQueue(deps, { tenant, queue: "limited" }).catch(mayBeLate);
      await resumeQueue({ ...deps, signal: memorySignal() }, { tenant, queue: "limited" }).catch(mayBeLate);
    },
  }),
  ...ofMany({
    "mark blocked groups": ({ tenant }, deps) => markBlocked(deps, { tenant, queue: "q" }),
  }),
};
