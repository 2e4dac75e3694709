import type { SendSignalAnswer } from "@atlasqueue/contract";

/**
 * What became of a signal. `sent_before`: the first of its name counts. `too_late`: the job has stopped waiting for it.
 * `finished`, `unknown`: there is no such job that could wait. `full`: the job was sent as many as it may be. All but
 * `sent` changed nothing.
 */
export type SignalSent = SendSignalAnswer["outcome"] | "finished" | "unknown" | "full";
