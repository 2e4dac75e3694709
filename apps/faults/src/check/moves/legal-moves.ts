import type { Invariant } from "../invariant.ts";

/** Where a job may go from each status; `new` is before it was stored, `removed` after. */
const legal: Record<string, readonly string[]> = {
  new: ["scheduled", "blocked", "queued"],
  // A newer request may replace what waits, and a child wait again when a person has its parent start anew.
  scheduled: ["scheduled", "queued", "cancelled", "blocked"],
  // The settlement of the one before may lease the next of a group.
  blocked: ["blocked", "scheduled", "queued", "running", "cancelled"],
  queued: ["queued", "scheduled", "running", "cancelled"],
  running: ["running", "queued", "scheduled", "failed", "succeeded", "dead", "cancelled"],
  failed: ["queued", "scheduled", "blocked", "cancelled"],
  succeeded: ["removed"],
  dead: ["queued", "blocked", "removed"],
  cancelled: ["queued", "blocked", "removed"],
};

export const legalMoves: Invariant = {
  name: "legal-moves",
  sentence: "A job moves only as the states allow, and each move goes on where the last one ended",
  *find({ stories }) {
    for (const [job, { moves }] of stories) {
      let before: string | null = null;
      for (const { was, status, at_ms } of moves) {
        const [from, to] = [was ?? "new", status ?? "removed"];
        if (was !== before) yield { job, evidence: `it was ${before ?? "new"} and then moved from ${from} to ${to}` };
        else if (!legal[from]?.includes(to)) yield { job, evidence: `it moved from ${from} to ${to} at ${at_ms}` };
        before = status;
      }
    }
  },
};
