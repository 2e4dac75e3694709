import { unavailable } from "./problem.ts";

type GateLimits = { requests_max: number; bytes_max: number };
export type Gate = {
  /** Run `work` while counting it; `bytes` is what it keeps in memory meanwhile. Throws `ProblemError` when full. */
  hold<T>(bytes: number, work: () => Promise<T>): Promise<T>;
  /** The same for what is not known beforehand: count bytes as they come, and let go of all of them at the end. */
  meter(): { add(bytes: number): void; release(): void };
};

/** Far more than the database is given at once in good times; what a database that is away may pile up. */
const defaultGateLimits: GateLimits = { requests_max: 2_000, bytes_max: 128 * 1_048_576 };

/** Large bodies that arrive at once: slow clients would else fill the memory with what nobody has looked at yet. */
export const bodyLimits: GateLimits = { requests_max: 2_000, bytes_max: 256 * 1_048_576 };

/** Bounds the requests that wait for something, for the database by default, as each one keeps its body in memory. */
export function createGate(
  { requests_max, bytes_max }: GateLimits = defaultGateLimits,
  full = "Too many requests are waiting for the database",
): Gate {
  let requests = 0;
  let held_bytes = 0;
  return {
    meter() {
      let counted = 0;
      return {
        add(bytes) {
          if (held_bytes + bytes > bytes_max) throw unavailable(full);
          counted += bytes;
          held_bytes += bytes;
        },
        release() {
          held_bytes -= counted;
          counted = 0;
        },
      };
    },
    async hold(bytes, work) {
      if (requests >= requests_max || held_bytes + bytes > bytes_max) throw unavailable(full);
      requests += 1;
      held_bytes += bytes;
      try {
        return await work();
      } finally {
        requests -= 1;
        held_bytes -= bytes;
      }
    },
  };
}
