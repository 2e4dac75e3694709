import { isUnavailable } from "@atlasqueue/core";
import { outcomeUnknown, type EnqueueOutcome, type Submitter } from "@atlasqueue/core/internal/http";
import type { Admitted } from "./admit.ts";

/** What became of a line: its outcome, or what was thrown for it. */
export type Stored = { outcome: EnqueueOutcome } | { thrown: unknown };

/**
 * Have lines stored, each for itself. Those without a group go with whatever else the process stores, many per
 * statement. Where there is a group the order counts: then all go in one statement, after the lines before them.
 *
 * @example
 * const stored = await storeLines(submitter, lines, before);
 */
export async function storeLines(
  submitter: Submitter,
  lines: readonly Admitted[],
  before: Promise<{ failed?: Error }> | undefined,
): Promise<Stored[]> {
  if (!lines.some(({ submission }) => submission.request.group !== undefined))
    return Promise.all(lines.map((one) => storeOne(submitter, one)));
  const { failed } = (await before) ?? {};
  if (failed) throw failed;
  try {
    const outcomes = await submitter.submitTogether(lines.map(({ submission }) => submission));
    return outcomes.map((outcome) => ({ outcome }));
  } catch (thrown) {
    if (isUnavailable(thrown) || outcomeUnknown(thrown)) return lines.map(() => ({ thrown }));
    // It was for one of them, and nobody knows which. Their keys make it safe to try each.
    const stored: Stored[] = [];
    for (const one of lines) stored.push(await storeOne(submitter, one));
    return stored;
  }
}

async function storeOne(submitter: Submitter, { submission, bytes }: Admitted): Promise<Stored> {
  try {
    return { outcome: await submitter.submit(submission, bytes) };
  } catch (thrown) {
    return { thrown };
  }
}
