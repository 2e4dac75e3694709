import type { Attempt } from "@atlasqueue/contract";
import { z } from "zod";
import { excerpt, type Cuts } from "../../untrusted/excerpt.ts";
import { job_id } from "../fields.ts";
import { shownName } from "../job-views.ts";
import { reads, tool } from "../tool.ts";

/** Of each attempt when all are asked for, and when just one is. */
const brief = { attempts: 10, lines: 5, line_chars: 200, error_chars: 500 };
const whole = { attempts: 1, lines: 100, line_chars: 1_000, error_chars: 4_096 };

const attempt = z.object({
  attempt: z.int(),
  worker_id: z.string().nullable(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  outcome: z.enum(["succeeded", "failed", "lost", "cancelled", "running"]),
  error: z.string().nullable(),
  log: z.array(z.object({ at: z.iso.datetime(), line: z.string() })),
});

export const getJobAttempts = tool({
  name: "get_job_attempts",
  title: "Get a job's attempts",
  description:
    "How each run of a job ended, its error, and the last lines it logged. With attempt: one of them, with all that is " +
    "kept of its log.",
  toolset: "read",
  scope: "read",
  hints: reads,
  input: z.strictObject({
    job_id,
    attempt: z.int().min(1).max(10_000).optional().describe("the number of one attempt, an integer from 1"),
  }),
  output: z.object({ attempts: z.array(attempt) }),
  async run({ job_id: id, attempt: number }, { client, signal, cuts }) {
    const all = await client.attempts(id, { signal });
    const chosen = number === undefined ? all : all.filter((one) => one.attempt === number);
    const bounds = number === undefined ? brief : whole;
    const shown = chosen.slice(-bounds.attempts);
    if (shown.length < chosen.length)
      cuts.push(`attempts: the last ${shown.length} of ${chosen.length}; attempt shows any one of them`);
    return { attempts: shown.map((one) => show(cuts, one, bounds)) };
  },
});

function show(cuts: Cuts, one: Attempt, bounds: typeof brief): z.output<typeof attempt> {
  const { attempt: number, worker_id, started_at, finished_at, outcome, error, log } = one;
  const more = `ask for attempt ${number} alone`;
  const lines = log.slice(-bounds.lines);
  if (lines.length < log.length)
    cuts.push(`log of attempt ${number}: the last ${lines.length} of ${log.length} lines; ${more}`);
  return {
    attempt: number,
    worker_id: worker_id === null ? null : shownName(cuts, "worker_id", worker_id),
    started_at,
    finished_at,
    outcome,
    error: error === null ? null : excerpt(cuts, error, { name: "error", chars_max: bounds.error_chars, more }),
    log: lines.map(({ at, line }) => ({
      at,
      line: excerpt(cuts, line, { name: `log of attempt ${number}`, chars_max: bounds.line_chars, more }),
    })),
  };
}
