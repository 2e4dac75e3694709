import { hash } from "node:crypto";
import { isFinal, type JobStatus, type SubmitJob, type Unique } from "@atlasqueue/contract";

/** The job that holds a unique key. `window_over` is null when it holds the key until it is final. */
export type Holder = {
  status: JobStatus;
  group: string | null;
  window_over: boolean | null;
  /** It has done a part, or was sent a signal: with another payload that would be lost. */
  has_steps?: boolean | null;
  /** The flow it is a job of: those that wait for it, and those it waits for, mean what it was made for. */
  flow_id?: string | null;
  /** Others wait for it without being of its flow. */
  has_children?: boolean | null;
};

type UniqueVerdict =
  /** No one holds it: the new job takes the key. */
  | "take"
  /** The holder is the answer, unchanged or rewritten by the new request. */
  | "return"
  | "replace"
  | "reject";

/**
 * What becomes of a request whose unique key is held. A job that has started, is part of a flow, or is
 * waited for by others, cannot be replaced: then the request makes a new job, which takes the key, so that what it asks for is done after all. The place in a group cannot be replaced.
 *
 * @example
 * uniqueVerdict(undefined, unique, null); // "take"
 */
export function uniqueVerdict(holder: Holder | undefined, { on_conflict }: Unique, group: string | null) {
  if (!holder || (holder.window_over ?? isFinal(holder.status))) return "take" satisfies UniqueVerdict;
  if (on_conflict !== "replace") return on_conflict satisfies UniqueVerdict;
  if (!waiting.has(holder.status) || isWantedAsItIs(holder)) return "take" satisfies UniqueVerdict;
  return (holder.group === group ? "replace" : "reject") satisfies UniqueVerdict;
}

const isWantedAsItIs = ({ has_steps, flow_id, has_children }: Holder) => has_steps || flow_id || has_children;

const waiting = new Set<JobStatus>(["scheduled", "blocked", "queued", "failed"]);

/** The key as stored: the caller's own, or derived from the job. Neither can be mistaken for the other. */
export function uniqueKeyOf({ type, unique }: SubmitJob, payload: string): string {
  if (unique?.key !== undefined) return `key:${unique.key}`;
  return `job:${hash("sha256", `${JSON.stringify(type)}${payload}`, "hex")}`;
}
