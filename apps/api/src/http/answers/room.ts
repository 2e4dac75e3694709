import { limits } from "@atlasqueue/contract";
import {
  beside_bytes_max,
  createWaitingRoom,
  page_bytes_max,
  parsed_bytes_each,
  withinHeap,
  type Place,
  type WaitingRoom,
} from "@atlasqueue/core/internal";

/** Ten pages, as many as the pool has connections; in a small process at least one. */
const room_bytes_max = withinHeap(1_024 * 1_048_576, { part: 1.5 });
/** As many as may wait for jobs, each of which may read them. */
const waiting_max = 10_000;
/** A page takes some tenths of a second at most, so many others may be before one. */
const wait_ms_max = 10_000;

/** Beside payload and result: progress, errors and their data. */
const rest_bytes_max = 65_536;
const lease_bytes_max = limits.payload_bytes_max + rest_bytes_max;
const job_bytes_max = lease_bytes_max + limits.result_bytes_max;

/**
 * Room for what is read from the database for answers: most of it is parsed, and some megabytes of text full of `{}` take
 * twenty times as much. An answer has it from before its statement is sent until it is made; until then it waits in its
 * tenant's line.
 */
export function createAnswerRoom(bounds: { room_max?: number; wait_ms_max?: number } = {}): WaitingRoom {
  return createWaitingRoom("answers with many payloads", {
    room_max: room_bytes_max,
    waiting_max,
    wait_ms_max,
    ...bounds,
  });
}

/** As it comes, as it is read, and as it is answered. */
const text_bytes_each = 4;

/** What so much JSON takes at most once it is read; of a page there is no more than its bound. */
function parsed(bytes: number): number {
  return Math.min(bytes, page_bytes_max) * parsed_bytes_each;
}

/** The same of what is read beside the jobs. */
function besides(bytes: number): number {
  return Math.min(bytes, beside_bytes_max) * parsed_bytes_each;
}

/** What a page of so many jobs takes in memory at most, whose JSON is only passed on. */
export const roomForPage = (count: number): number => roomForText(Math.min(count * job_bytes_max, page_bytes_max));
/** The same of jobs that are parsed, or of anything that is no larger. */
export const roomForJobs = (count: number): number => parsed(count * job_bytes_max);
/** What a job takes that is shown with its parents. */
export const roomForShown = parsed(job_bytes_max) + besides(limits.parents_shown_bytes_max);
/** What so many leased jobs take, with what their handlers have done, and what they waited for. */
export const roomForLeases = (count: number): number =>
  parsed(count * lease_bytes_max) +
  besides(count * limits.leased_steps_bytes_max) +
  besides(count * limits.parents_shown_bytes_max);
/** What so much text takes that is answered without being parsed, or is little else once it is. */
export const roomForText = (bytes: number): number => bytes * text_bytes_each;

/**
 * Read in a place in the room, once that is there; what was read has to become text at once.
 *
 * @example
 * return inRoom(deps.answers.place(tenant, roomForJobs(limit)), call.hungUp, () => page());
 */
export async function inRoom<T>(place: Place, gone: () => AbortSignal, read: () => T): Promise<Awaited<T>> {
  const entered = place.enter(gone);
  try {
    if (entered) await entered;
    return await read();
  } finally {
    place.leave();
  }
}
