import type { Facts, Story } from "../facts.ts";

/** The stories of each group, by tenant, queue and group. */
export function groupsOf({ stories }: Facts): Map<string, Story[]> {
  const groups = new Map<string, Story[]>();
  for (const story of stories.values()) {
    const [first] = story.moves;
    if (!first || first.group === null) continue;
    const name = `${first.tenant} ${first.queue} ${first.group}`;
    const members = groups.get(name);
    if (members) members.push(story);
    else groups.set(name, [story]);
  }
  return groups;
}
