import type { Deps, QueueRef } from "../deps.ts";
import { readyAmong } from "../queues/ready-queues.ts";
import type { ReadyInGroup } from "../signal/signal.ts";
import { oldestInGroups, readyOfGroups, type GroupPage } from "./ready.ts";

/** Where each queue's turns go on, and each tenant's queues', from one claim without a signal to the next. */
export type Turns = Map<string, string>;

const turns_max = 10_000;
/** Groups looked at in one claim: those for which there is room, and so many pages more when too few of them have jobs. */
const pages_max = 8;
const page_groups = 500;

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
  // Those without ready jobs take no turn, and no statement each.
  const ready = await readyAmong(
    deps,
    queues.map((queue) => ({ tenant, queue })),
  );
  const names = ready.map(({ queue }) => queue).sort();
  const inRotation = [...names.filter((name) => name > before), ...names.filter((name) => name <= before)];
  if (inRotation[0] !== undefined) turns.set(tenant, inRotation[0]);
  const ids: string[] = [];
  for (const [at, queue] of inRotation.entries()) {
    const left = jobs_max - ids.length;
    if (left > 0) ids.push(...(await nextOf(deps, tenant, queue, turns, Math.ceil(left / (names.length - at)))));
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
  const oldest = await oldestInGroups(deps, ref, 0, jobs_max);
  // With room for all there are, no one has to wait for a turn.
  if (oldest.length < jobs_max) return oldest.map(({ id }) => id);
  const first = await walk(deps, ref, after, jobs_max);
  const alone = oldest.filter(({ group }) => group === null);
  // From the end it goes on at the beginning, where those without a group are, before any name.
  const more = after && first.last === undefined ? await walk(deps, ref, "", jobs_max) : undefined;
  const inOrder = after === undefined ? [...alone, ...first.jobs] : [...first.jobs, ...alone, ...(more?.jobs ?? [])];
  const next = inRounds(inOrder).slice(0, jobs_max);
  const last = next.findLast(({ round }) => round === 0);
  // So many groups without a ready job are left behind that the next claim begins after them.
  const furthest = more ?? first;
  const passed = first.jobs.length + furthest.jobs.length === 0 ? furthest.last : undefined;
  const place = last?.job.group ?? passed ?? (last && "");
  if (turns.size > turns_max) turns.clear();
  if (place === undefined) turns.delete(name);
  else turns.set(name, place);
  return next.map(({ job }) => job.id);
}

/**
 * The ready jobs of the groups after one, as many as there is room for. Any number of groups may have none, as their
 * jobs are running or not due: it walks on past these, for some pages. `last` is where it stopped before the end.
 */
async function walk(deps: Pick<Deps, "database">, ref: QueueRef, from: string | undefined, jobs_max: number) {
  const jobs: ReadyInGroup[] = [];
  let last: string | undefined = from ?? "";
  for (let page = 0; page < pages_max && last !== undefined && jobs.length < jobs_max; page += 1) {
    const found: GroupPage = await readyOfGroups(deps, ref, 0, last, page === 0 ? jobs_max : page_groups);
    jobs.push(...found.jobs);
    ({ last } = found);
  }
  return { jobs, last };
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
