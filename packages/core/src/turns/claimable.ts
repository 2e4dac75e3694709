import type { Deps } from "../deps.ts";
import type { ReadyInGroup } from "../signal/signal.ts";
import { oldestInGroups, readyOfGroups } from "./ready.ts";

/** Where each queue's turns go on, and each tenant's queues', from one claim without a signal to the next. */
export type Turns = Map<string, string>;

const turns_max = 10_000;

type Wanted = { tenant: string; queues: readonly string[]; turns?: Turns | undefined };

/**
 * Ids of ready jobs of queues whose groups take turns, for a claim without a signal: one of each group after the one
 * that came last, then the second of each, and one of those without a group for each round. The queues have equal shares,
 * as far as they have jobs, and each call begins with the next of them, so that where there is less room than there are
 * queues none is left out.
 *
 * @example
 * const ids = await claimableInTurns(deps, { tenant: "default", queues: ["mail"] }, 10);
 */
export async function claimableInTurns(
  deps: Pick<Deps, "database">,
  { tenant, queues, turns = new Map() }: Wanted,
  jobs_max: number,
): Promise<string[]> {
  const before = turns.get(tenant) ?? "";
  const names = [...queues].sort();
  const inRotation = [...names.filter((name) => name > before), ...names.filter((name) => name <= before)];
  if (inRotation[0] !== undefined) turns.set(tenant, inRotation[0]);
  const ids: string[] = [];
  for (const [at, queue] of inRotation.entries()) {
    const left = jobs_max - ids.length;
    if (left > 0) ids.push(...(await nextOf(deps, tenant, queue, turns, Math.ceil(left / (queues.length - at)))));
  }
  return ids;
}

async function nextOf(
  deps: Pick<Deps, "database">,
  tenant: string,
  queue: string,
  turns: Turns,
  jobs_max: number,
): Promise<string[]> {
  const ref = { tenant, queue };
  const name = `${tenant} ${queue}`;
  const after = turns.get(name);
  const look = (from: string, groups_max: number) => readyOfGroups(deps, ref, 0, from, groups_max);
  const [oldest, first] = await Promise.all([oldestInGroups(deps, ref, 0, jobs_max), look(after ?? "", jobs_max)]);
  const alone = oldest.filter(({ group }) => group === null);
  // From the end it goes on at the beginning, where those without a group are, before any name.
  const more = after && first.last === undefined ? (await look("", jobs_max)).jobs : [];
  const inOrder = after === undefined ? [...alone, ...first.jobs] : [...first.jobs, ...alone, ...more];
  const next = inRounds(inOrder).slice(0, jobs_max);
  const last = next.findLast(({ round }) => round === 0);
  if (turns.size > turns_max) turns.clear();
  if (last) turns.set(name, last.job.group ?? "");
  else turns.delete(name);
  return next.map(({ job }) => job.id);
}

/** The first of each group in the order of the groups, then the second of each, and so on; each job once. */
function inRounds(jobs: readonly ReadyInGroup[]): { round: number; job: ReadyInGroup }[] {
  const ranks = new Map<string | null, number>();
  const seen = new Set<string>();
  const placed: { round: number; job: ReadyInGroup }[] = [];
  for (const job of jobs) {
    if (seen.has(job.id)) continue;
    seen.add(job.id);
    const round = ranks.get(job.group) ?? 0;
    ranks.set(job.group, round + 1);
    placed.push({ round, job });
  }
  return placed.sort((a, b) => b.job.priority - a.job.priority || a.round - b.round);
}
