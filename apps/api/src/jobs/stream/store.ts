import { isUnavailable } from "@atlasqueue/core";
import { outcomeUnknown, type Submitter } from "@atlasqueue/core/internal/http";
import { wishesOf, type Item, type Wish } from "./read-line.ts";

/**
 * Have lines stored, each for itself. Those without a group go with whatever else the process stores, many per
 * statement. Where there is a group the order counts: then all go in one statement, after the lines before them.
 *
 * @example
 * await storeLines(submitter, items, before);
 */
export async function storeLines(
  submitter: Submitter,
  items: readonly Item[],
  before: Promise<{ failed?: Error }> | undefined,
): Promise<void> {
  const wishes = wishesOf(items);
  if (!wishes.some(({ submission }) => submission.request.group !== undefined))
    return void (await Promise.all(wishes.map((one) => storeOne(submitter, one))));
  const { failed } = (await before) ?? {};
  if (failed) throw failed;
  try {
    const outcomes = await submitter.submitTogether(wishes.map(({ submission }) => submission));
    for (const [at, outcome] of outcomes.entries()) Object.assign(wishes[at] ?? {}, { outcome });
  } catch (thrown) {
    if (isEnd(thrown)) for (const one of wishes) Object.assign(one, { thrown, ends: true });
    // It was for one of them, and nobody knows which. Their keys make it safe to try each.
    else for (const one of wishes) await storeOne(submitter, one);
  }
}

async function storeOne(submitter: Submitter, wish: Wish): Promise<void> {
  try {
    wish.outcome = await submitter.submit(wish.submission, wish.bytes);
  } catch (thrown) {
    Object.assign(wish, { thrown, ends: isEnd(thrown) });
  }
}

const isEnd = (thrown: unknown): boolean => isUnavailable(thrown) || outcomeUnknown(thrown);
