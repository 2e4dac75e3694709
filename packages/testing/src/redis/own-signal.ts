import { memorySignal, redisSignal, type Signal } from "@atlasqueue/core";
import { redisUrl, uniqueKeys } from "../servers/shared-servers.ts";

/**
 * A signal with lists of ids, under names that no other test uses. Its notices stay in the process, so that they are heard
 * at once. Close it.
 *
 * @example
 * const signal = ownSignal();
 * afterAll(() => signal.close());
 */
export function ownSignal(): Signal {
  const { jobsKey, dlqKey } = uniqueKeys();
  const keys = { jobs: jobsKey, deadLetters: dlqKey };
  return { ...redisSignal({ url: redisUrl(), keys, timeoutMs: 5_000 }), notices: memorySignal().notices };
}
