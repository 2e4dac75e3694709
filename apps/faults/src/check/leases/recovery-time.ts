import type { Invariant } from "../invariant.ts";
import { leasesOf } from "../leases.ts";
import { cutsPostgresOff, troubledMs } from "../trouble.ts";

/** A machine that does other work too may be so late. */
const late_ms = 2_000;
/**
 * So long a process that sweeps must have had its writes answered before it ends leases, from its start, a standstill or
 * an outage on, and while there are no leases there is nothing to write.
 */
const gate_ms = 8_000;

export const recoveryTime: Invariant = {
  name: "recovery-time",
  sentence:
    "A lost lease is taken back within a sweep and the eight seconds of the recovery gate after its end, less the time in which PostgreSQL was in trouble",
  *find(facts, excuse) {
    const { sweep_ms } = facts.settings;
    for (const [job, story] of facts.stories)
      for (const { end, stopped, attempt } of leasesOf(story)) {
        if (end !== "lost" || !stopped) continue;
        const over_ms = -(stopped.lease_left_ms ?? 0);
        const ended = { from_ms: stopped.at_ms - over_ms, to_ms: stopped.at_ms };
        // One sweeper that stands still is no excuse, as there are others.
        const troubled_ms = troubledMs(facts, ended, cutsPostgresOff);
        const allowed_ms = sweep_ms + gate_ms + late_ms;
        if (over_ms <= allowed_ms) continue;
        if (over_ms - troubled_ms <= allowed_ms) excuse("PostgreSQL was in trouble");
        else
          yield {
            job,
            evidence: `attempt ${attempt} was taken back ${Math.round(over_ms)} ms after its lease, ${Math.round(troubled_ms)} of them in trouble`,
          };
      }
  },
};
