import { firstId } from "../../../src/ids.ts";
import { closeEdges, releaseChildren } from "../../advance.ts";
import { foldCounts } from "../../../src/counts/fold.ts";
import { advanceOverdue } from "../../../src/groups/overdue.ts";
import { forgetPastStarts } from "../../../src/limits/note-starts.ts";
import { clearResults } from "../../../src/maintenance/clear-results.ts";
import { promoteDue } from "../../../src/maintenance/promote.ts";
import { prune } from "../../../src/maintenance/prune.ts";
import { drainPage } from "../../../src/outbox/drain-page.ts";
import { forget } from "../../../src/maintenance/forget.ts";
import { ofMany, type Moves } from "./move.ts";

const lastId = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** What the sweep and the cleaner do: they wait for nothing. */
export const sweepMoves: Moves = ofMany({
  "advance overdue groups": (_world, deps) => advanceOverdue(deps, 100),
  "close edges": (_world, deps) => closeEdges(deps, 100),
  "put off rows of the outbox": (_world, deps) =>
    drainPage(deps, { parent_ended: { version: 1, handle: async (_execute, rows) => ({ later: [...rows] }) } }, 100),
  "fail with a row of the outbox": (_world, deps) =>
    drainPage(deps, { parent_ended: { version: 1, handle: () => Promise.reject(new Error("it fails")) } }, 1),
  "release children": (_world, deps) => releaseChildren(deps, 100),
  promote: (_world, deps) => promoteDue(deps, 50),
  "promote of queues": ({ tenant }, deps) => promoteDue(deps, 0, [{ tenant, queue: "q", jobs_max: 50 }]),
  prune: (_world, deps) => prune(deps, { succeededHours: 0, deadHours: 0 }, firstId, 100),
  "prune keys": (_world, deps) => forget(deps, "keys", 100),
  "clear results": (_world, deps) => clearResults(deps, 0, firstId, lastId, 1_000),
  "fold counts": (_world, deps) => foldCounts(deps, 100),
  "forget operations and queues": (_world, deps) => forget(deps, "others", 100),
  "forget past starts": (_world, deps) => forgetPastStarts(deps, 100),
});
