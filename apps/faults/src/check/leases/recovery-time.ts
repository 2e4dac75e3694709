import type { Fault } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { leasesOf } from "../leases.ts";
import { troubledMs } from "../trouble.ts";

/** A machine that does other work too may be so late. */
const late_ms = 2_000;
/**
 * Whoever sweeps needs PostgreSQL. One sweeper that stands still is no excuse, as there are others; where all are cut off at
 * once, each first gives the holders of the leases time to renew.
 */
const stopsAllSweepers = ({ fault, victims }: Fault) => victims.includes("postgres") || fault === "all-links-cut";
/** Unless PostgreSQL does not answer it at all: it tells the fleet, which then ends no leases for a while. See guarantee 10. */
const losesPostgres = ({ fault, victims }: Fault) =>
  /^(refused|black-hole|answers-lost|questions-lost)$/.test(fault) &&
  victims.some((link) => link.endsWith(">postgres"));

export const recoveryTime: Invariant = {
  name: "recovery-time",
  sentence:
    "A lost lease is taken back within a sweep of its end, less the time in which PostgreSQL was in trouble, or some process had lost it and told the fleet",
  *find(facts, excuse) {
    const { sweep_ms } = facts.settings;
    for (const [job, story] of facts.stories)
      for (const { end, stopped, attempt } of leasesOf(story)) {
        if (end !== "lost" || !stopped) continue;
        const over_ms = -(stopped.lease_left_ms ?? 0);
        const ended = { from_ms: stopped.at_ms - over_ms, to_ms: stopped.at_ms };
        const troubled_ms = troubledMs(facts, ended, stopsAllSweepers);
        const told_ms = troubledMs(facts, ended, (fault) => stopsAllSweepers(fault) || losesPostgres(fault));
        if (over_ms <= sweep_ms + late_ms) continue;
        if (over_ms - troubled_ms <= sweep_ms + late_ms) excuse("PostgreSQL was in trouble");
        else if (over_ms - told_ms <= sweep_ms + late_ms) excuse("a process had lost PostgreSQL and told the fleet");
        else
          yield {
            job,
            evidence: `attempt ${attempt} was taken back ${Math.round(over_ms)} ms after its lease, ${Math.round(troubled_ms)} of them in trouble`,
          };
      }
  },
};
