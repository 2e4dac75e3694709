import { firstId } from "../../../src/ids.ts";
import { admitAll, closeEdges, releaseChildren } from "../../advance.ts";
import { expect } from "vitest";
import { foldCounts } from "../../../src/counts/fold.ts";
import { advanceOverdue } from "../../../src/groups/overdue.ts";
import { forgetEndedClaims } from "../../../src/lease/forget-claims.ts";
import { endLeases, recoverExpired } from "../../../src/lease/recover.ts";
import { forgetPastStarts as forgetStarts } from "../../../src/limits/note-starts.ts";
import { expireAll } from "../../../src/maintenance/expire.ts";
import { promoteDue } from "../../../src/maintenance/promote.ts";
import { prune } from "../../../src/maintenance/prune.ts";
import { forget } from "../../../src/maintenance/forget.ts";
import { nothingFollows } from "../../explorer/moves/move.ts";
import * as deciding from "../deciding.ts";
import * as leasing from "../leasing.ts";
import { forgetPastStarts } from "../rates.ts";
import * as submitting from "../submitting.ts";
import * as upkeep from "../upkeep.ts";
import { type Act, one, workers } from "./choices.ts";

/** What happens by itself. */
export const sweeps: Record<string, Act> = {
  "time passes": async (model, real, draw) => {
    model.now += one(draw, [1_000, 6_000, 6_000, 11_000, 11_000, 31_000, 61_000, 7_200_000]);
    await real.clock.set(new Date(model.now));
  },
  recover: async (model, real) => {
    leasing.recover(model);
    await recoverExpired(real.deps, 500);
  },
  "end leases": async (model, real, draw) => {
    const worker_id = one(draw, workers);
    const ended = leasing.endLeases(model, worker_id);
    expect(await endLeases(real.deps, worker_id)).toEqual({ ended, locked: 0 });
  },
  "forget past starts": async (model, real) => {
    forgetPastStarts(model);
    await forgetStarts(real.deps, 10_000);
  },
  "forget ended claims": async (model, real) => {
    leasing.forgetEnded(model);
    await forgetEndedClaims(real.deps, [...real.tokens.values()]);
  },
  expire: async (model, real) => {
    deciding.expire(model);
    await expireAll({ ...real.deps, followUps: nothingFollows });
  },
  promote: async (model, real) => {
    upkeep.promote(model);
    await promoteDue(real.deps, 500);
  },
  "advance overdue groups": async (model, real) => {
    upkeep.advanceGroups(model, [...model.overdue]);
    await advanceOverdue(real.deps, 500);
  },
  "close edges": async (model, real) => {
    upkeep.closeEdges(model);
    await closeEdges(real.deps, 500);
  },
  "release children": async (model, real) => {
    upkeep.releaseChildren(model);
    await releaseChildren(real.deps, 500);
  },
  admit: async (model, real) => {
    submitting.admitAll(model);
    await admitAll(real.deps);
  },
  prune: async (model, real, draw) => {
    const [succeeded_hours, dead_hours] = [draw(2), draw(3)];
    upkeep.prune(model, succeeded_hours, dead_hours);
    await prune(real.deps, { succeededHours: succeeded_hours, deadHours: dead_hours }, firstId, 500);
  },
  "prune keys": async (model, real) => {
    upkeep.pruneKeys(model);
    await forget(real.deps, "keys", 500);
  },
  "fold counts": async (_model, real, draw) => void (await foldCounts(real.deps, 1 + draw(10))),
};
