import type { HandlerRun } from "../facts.ts";
import type { Invariant } from "../invariant.ts";
import { clocks_ms, leasesOf, ranUnder } from "../leases.ts";
import { forgotten, mayBeForgotten } from "../trouble.ts";

/** The engine ends these itself: the handler may still go on, or never began, or died with its process. */
const byEngine = /^(TimeoutError|PayloadError|ProcessError|Unknown|No handler|StepError|SpawnError)/;

export const ownAttempt: Invariant = {
  name: "own-attempt",
  sentence: "No attempt ends by what a superseded one did: only the handler that holds the token settles",
  *find(facts, excuse) {
    const { stories, settles } = facts;
    for (const [job, story] of stories) {
      for (const lease of leasesOf(story)) {
        const { stopped, attempt, end } = lease;
        if (end !== "settled" || !stopped) continue;
        const { done_by_attempt, status, error, at_ms } = stopped;
        if (done_by_attempt !== null && done_by_attempt !== attempt)
          yield { job, evidence: `attempt ${attempt} was completed with the result of attempt ${done_by_attempt}` };
        const own = story.runs.filter((run) => ranUnder(run, lease));
        const ended = (run: HandlerRun) => run.ended !== "unknown" && run.to_ms <= at_ms + clocks_ms;
        if (status === "succeeded" && !own.some((run) => run.ended === "returned" && ended(run)))
          yield { job, evidence: `attempt ${attempt} succeeded, and no handler of it had returned` };
        if (status === "succeeded" || own.some(ended)) continue;
        const [, engine] = byEngine.exec(error ?? "") ?? [];
        if (engine !== undefined) excuse(`the engine ended it with ${engine}`);
        else yield { job, evidence: `attempt ${attempt} became ${status} (${error}), and no handler of it had ended` };
      }
    }
    for (const { job, token, as, answer, attempt, to_ms } of settles) {
      if (answer !== "applied" || token === undefined || (as !== "complete" && as !== "fail")) continue;
      const moves = stories.get(job)?.moves ?? [];
      const settled = moves.some(
        ({ was, status, old_token }) =>
          was === "running" &&
          old_token === token &&
          (as === "complete" ? status === "succeeded" : status !== "succeeded"),
      );
      if (settled) continue;
      if (mayBeForgotten(facts, to_ms)) excuse(forgotten);
      else
        yield {
          job,
          evidence: `attempt ${attempt}, token ${token}: its ${as} was acknowledged, and no lease of this token ended so`,
        };
    }
  },
};
