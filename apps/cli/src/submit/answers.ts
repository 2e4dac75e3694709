import { problem } from "@atlasqueue/contract";
import { z } from "zod";

/** What this command needs of a job; a newer API may send more. */
export const jobSummary = z.looseObject({ id: z.string(), status: z.string() });
export type JobSummary = z.infer<typeof jobSummary>;

const reason_chars_max = 500;

/** Why the API said no, in one line, out of its problem+json or whatever else came. */
export function refusalReason(status: number, text: string): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return `the API answered ${status}`;
  }
  const parsed = problem.partial().loose().safeParse(body);
  if (!parsed.success) return `the API answered ${status}`;
  const { title, detail, errors = [] } = parsed.data;
  const faults = errors.map(({ pointer, message }) => `${pointer} ${message}`);
  const reason = faults.length > 0 ? faults.join("; ") : (detail ?? title ?? "no reason given");
  return `${status} ${oneLine(reason)}`;
}

/** It goes to a terminal: control characters in it could rewrite the screen. */
function oneLine(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, " ")
    .slice(0, reason_chars_max)
    .toWellFormed();
}
