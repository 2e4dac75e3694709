import { DatabaseTimeoutError, isUnavailable } from "../../database/errors.ts";
import type { Deps } from "../../deps.ts";
import type { FollowUps } from "../../follow-ups.ts";
import { pause } from "../../pause.ts";
import { arrivedAfter, arrivedUpTo, type ArrivedPage } from "./arrived-ids.ts";
import { admit } from "./admit.ts";
import { firstId } from "../../maintenance/prune.ts";

type AdmitterDeps = Deps & { followUps: Pick<FollowUps, "admitted"> };

const jobs_max = 200;
/** Statements in one go, leaving a sweep time for its other duties. */
const rounds_max = 50;
/** Others may take some of the keys between our look and our statement, again and again. */
const tries_max = 5;
const rest_ms_max = 20;
/** As many halvings as it takes to get from a page to one job, and a few more. */
const late_in_a_row_max = 12;

/**
 * Admit the jobs that arrived with callers' transactions, and signal them: the safety net for `admitThese`. One that
 * cannot be admitted now holds up none of the others. Returns how many there were.
 */
export async function admitAll(deps: AdmitterDeps): Promise<number> {
  let total = 0;
  let after: string | undefined = firstId;
  const failures = createFailures();
  for (let round = 0; round < rounds_max && after !== undefined; round += 1) {
    const { ids, more }: ArrivedPage = await arrivedAfter(deps, after, jobs_max);
    total += await admitPage(deps, ids, failures);
    after = more ? ids.at(-1) : undefined;
  }
  failures.tell();
  return total;
}

/** Admit jobs whose transactions have committed, after those ahead of them in their groups. */
export async function admitThese(deps: AdmitterDeps, ids: readonly string[]): Promise<void> {
  const failures = createFailures();
  for (let round = 0; round < rounds_max; round += 1) {
    const page = await arrivedUpTo(deps, ids, jobs_max);
    if (page.ids.length === 0 || (await admitPage(deps, page.ids, failures)) === 0 || !page.more) break;
  }
  failures.tell();
}

/** A page that fails is halved, down to the job at fault: that one is skipped, and holds up none of the others. */
async function admitPage(deps: AdmitterDeps, ids: readonly string[], failures: Failures): Promise<number> {
  try {
    const admitted = await admitTogether(deps, ids);
    failures.succeeded();
    return admitted;
  } catch (error) {
    failures.note(error);
    if (ids.length <= 1) return 0;
    const middle = Math.ceil(ids.length / 2);
    return (
      (await admitPage(deps, ids.slice(0, middle), failures)) + (await admitPage(deps, ids.slice(middle), failures))
    );
  }
}

type Failures = ReturnType<typeof createFailures>;

/**
 * Tells a job that cannot be admitted from a database that is away: in the latter case halving finds nothing, and the
 * walk ends.
 */
function createFailures() {
  let late_in_a_row = 0;
  let first: { error: unknown } | undefined;
  return {
    succeeded: () => void (late_in_a_row = 0),
    note(error: unknown): void {
      const late = error instanceof DatabaseTimeoutError;
      late_in_a_row = late ? late_in_a_row + 1 : 0;
      if ((isUnavailable(error) && !late) || late_in_a_row > late_in_a_row_max) throw error;
      first ??= { error };
    },
    /** Throws the first failure, once everything that could be admitted was. */
    tell(): void {
      if (first) throw first.error;
    },
  };
}

async function admitTogether(deps: AdmitterDeps, ids: readonly string[]): Promise<number> {
  let left = ids;
  for (let attempt = 0; attempt < tries_max && left.length > 0; attempt += 1) {
    if (attempt > 0) await pause(rest_ms_max * Math.random());
    const admitted = await admit(deps, left);
    await deps.followUps.admitted(admitted);
    left = admitted.left;
  }
  return ids.length - left.length;
}
