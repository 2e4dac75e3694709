import type { Act } from "./world.ts";
import type { Move, Record } from "./record.ts";

const stopped = ["dead", "cancelled", "failed"];
const anew = ["queued", "blocked"];

const isOf: { [verb in Act["verb"]]: (move: Move) => boolean } = {
  cancel: ({ status }) => status === "cancelled",
  retry: ({ was, status }) => was !== null && stopped.includes(was) && anew.includes(status),
};

/**
 * The moves of a job that may have been a person's, and when that one asked: those of their kind while an act on the job
 * was under way, or, for a cancellation, on its flow. The retry of a flow does without no parent.
 */
export function personsMoves({ jobs, acts }: Record, id: string, verb: Act["verb"]): (Move & { asked_ms: number })[] {
  const job = jobs.get(id);
  const meant = acts.filter(
    (act) => act.verb === verb && (act.job_id === id || (verb === "cancel" && act.flow_id === job?.flow_id)),
  );
  const moves = job?.moves.filter(isOf[verb]) ?? [];
  return moves.flatMap((move) => {
    const act = meant.findLast(({ from_ms, to_ms }) => from_ms - 1 <= move.at_ms && move.at_ms <= to_ms);
    return act ? [{ ...move, asked_ms: act.from_ms - 1 }] : [];
  });
}
