import { bounded } from "./around/bounded.ts";
import { deadList } from "./around/dead-list.ts";
import { runWhole } from "./around/run-whole.ts";
import type { Invariant } from "./invariant.ts";
import { attemptsCounted } from "./leases/attempts-counted.ts";
import { attemptsSeen } from "./leases/attempts-seen.ts";
import { oneLiveToken } from "./leases/one-live-token.ts";
import { ownAttempt } from "./leases/own-attempt.ts";
import { recoveryTime } from "./leases/recovery-time.ts";
import { runsLeased } from "./leases/runs-leased.ts";
import { finalStays } from "./moves/final-stays.ts";
import { legalMoves } from "./moves/legal-moves.ts";
import { tenantsApart } from "./moves/tenants-apart.ts";
import { groupOrder } from "./order/group-order.ts";
import { groupOverlap } from "./order/group-overlap.ts";
import { limitsKept } from "./order/limits-kept.ts";
import { ratesKept } from "./order/rates-kept.ts";
import { acknowledgedEnd } from "./submitted/acknowledged-end.ts";
import { batchWhole } from "./submitted/batch-whole.ts";
import { callersRows } from "./submitted/callers-rows.ts";
import { expectedEnd } from "./submitted/expected-end.ts";
import { nothingUnexpected } from "./submitted/nothing-unexpected.ts";
import { oneIdPerKey } from "./submitted/one-id-per-key.ts";
import { scheduleMissed } from "./submitted/schedule-missed.ts";
import { scheduleSlots } from "./submitted/schedule-slots.ts";

/** All that is checked of a run. */
export const invariants: readonly Invariant[] = [
  acknowledgedEnd,
  expectedEnd,
  nothingUnexpected,
  scheduleSlots,
  scheduleMissed,
  oneIdPerKey,
  batchWhole,
  callersRows,
  oneLiveToken,
  ownAttempt,
  attemptsSeen,
  runsLeased,
  attemptsCounted,
  recoveryTime,
  legalMoves,
  finalStays,
  tenantsApart,
  groupOrder,
  groupOverlap,
  limitsKept,
  ratesKept,
  deadList,
  bounded,
  runWhole,
];
