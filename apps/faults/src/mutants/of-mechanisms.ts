import type { Mutant } from "./mutant.ts";
import { backAfterOutage, flowOfTwo, joinsAtTheEnd, repeatedToken, wokenByMark } from "./scenarios/mechanisms.ts";

/** Engines without one of the mechanisms that hold several guarantees: the outbox, lease tokens, marks, the gate, group locks. */
export const ofMechanisms: readonly Mutant[] = [
  {
    name: "a page of the outbox is lost",
    edits: [
      {
        file: "outbox/drain-page.ts",
        find: "handled.push((await handlers[kind]?.handle(execute, rows, taken.length === 1)) ?? {});",
        put: "void [kind, rows];",
      },
    ],
    scenario: flowOfTwo,
  },
  {
    name: "a lease token gives a job that another leased",
    edits: [{ file: "remote/leased-before.ts", find: "AND lease_token = $2::uuid AND status", put: "AND status" }],
    scenario: repeatedToken,
  },
  {
    name: "no wake-up mark after a limited job",
    edits: [{ file: "follow-ups.ts", find: "if (job.limited) freed.push(job);", put: "" }],
    scenario: wokenByMark,
  },
  {
    name: "recovery without its gate",
    edits: [
      {
        file: "maintenance/sweep/recovery-gate.ts",
        find: "return now - answered_at <= gap_ms_max && now - answered_since >= opens_after_ms;",
        put: "void [now, answered_at, answered_since, gap_ms_max, opens_after_ms]; return true;",
      },
    ],
    scenario: backAfterOutage,
  },
  {
    name: "a group's end does not lock the group",
    edits: [
      {
        file: "groups/advance.ts",
        find: 'WHERE ${sameGroup("one", "ordered")} FOR UPDATE) AS locked`',
        put: 'WHERE ${sameGroup("one", "ordered")}) AS locked`',
      },
    ],
    scenario: joinsAtTheEnd,
  },
];
