import { LeaseLostError, type WorkEvent } from "../../src/index.ts";
import type { Fortune } from "./fortunes.ts";
import type { ModelJob } from "./model-api.ts";

/** Lines of what happened before something went wrong. */
const told_max = 60;

/** What must not have been, and what happened until then. */
export type Verdict = { wrong: string[]; log: string[] };

/** Still to be done. */
export const isOpen = ({ status }: ModelJob) => status === "ready" || status === "leased";

/** Notes what happens in a life, and says what of it must not be. */
export function judgeOf(jobs: readonly ModelJob[], fortune: Fortune) {
  const began_ms = performance.now();
  const log: string[] = [];
  const wrong: string[] = [];
  /** Handlers that have not ended, by the token of their lease and their job. */
  const running = new Map<string, AbortSignal>();
  const seen = new Set<string>();
  /** Jobs, and the attempt whose lease the API has ended in a storm: their workers may hear of it much later. */
  const excused = new Set<string>();
  const note = (text: string) => void log.push(`${((performance.now() - began_ms) / 1_000).toFixed(2)} ${text}`);
  const fault = (text: string) => {
    note(`!! ${text}`);
    wrong.push(text);
  };
  return {
    note,
    fault,
    /** The API ended a lease whose time was over. */
    ended(job: ModelJob): void {
      const key = `${job.token} ${job.id}`;
      if (running.get(key)?.aborted === false) fault(`${job.id}: its handler runs on although its lease has ended`);
      if (fortune.excusesLost("settling")) excused.add(`${job.id} ${job.attempts}`);
      const told = `${job.id}: its lease has ended${seen.has(key) ? "" : ", and no handler has seen it"}`;
      if (seen.has(key) || fortune.excusesUnseen()) note(told);
      else fault(told);
    },
    observe(event: WorkEvent): void {
      const job_id = "job" in event ? event.job.id : "";
      note(`${event.event} ${job_id} ${"during" in event ? event.during : ""} ${"error" in event ? event.error : ""}`);
      if (event.event !== "lease_lost" || event.during === "starting") return;
      // Not if it is settled, or was given back.
      const has_cost = jobs.some((job) => job.id === job_id && isOpen(job) && job.attempts > 0);
      if (has_cost && !excused.has(`${job_id} ${event.job.attempts}`) && !fortune.excusesLost(event.during))
        fault(`${job_id}: taken for lost`);
    },
    /** Around a handler. */
    async runs(id: string, signal: AbortSignal, run: () => Promise<void>): Promise<void> {
      const key = `${jobs.find((job) => job.id === id)?.token} ${id}`;
      for (const [other, still] of running)
        if (other.endsWith(` ${id}`) && !still.aborted) fault(`${id}: runs twice at once`);
      running.set(key, signal);
      seen.add(key);
      try {
        await run();
      } catch (error) {
        const is_stop = fortune.stops && signal.aborted;
        if (!(error instanceof LeaseLostError) && !is_stop) fault(`${id}: ${String(error)}`);
        throw error;
      } finally {
        running.delete(key);
      }
    },
    verdict: (): Verdict => ({
      wrong,
      log: log.slice(0, log.findLastIndex((line) => line.includes("!!")) + 1).slice(-told_max),
    }),
  };
}
