import type { Invariant } from "../invariant.ts";

export const deadList: Invariant = {
  name: "dead-list",
  sentence: "When all is quiet the list in Redis has each dead job once, and nothing else",
  *find({ final }) {
    if (final.dead_list === undefined) return;
    const listed = new Set<string>();
    for (const id of final.dead_list) {
      if (listed.has(id)) yield { job: id, evidence: "it is in the list twice" };
      listed.add(id);
    }
    const dead = new Set(final.open.filter(({ status }) => status === "dead").map(({ id }) => id));
    for (const id of dead) if (!listed.has(id)) yield { job: id, evidence: "it is dead and not in the list" };
    for (const id of listed) if (!dead.has(id)) yield { job: id, evidence: "it is in the list and not dead" };
  },
};
