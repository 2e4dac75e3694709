import { createRequire } from "node:module";

const minute_ms = 60_000;

/**
 * Statistics of a worker's process. `jobEnded` counts a job. `read` returns how many were counted in the last minute, as
 * seen by the reads before it.
 */
export function createVitals(now: () => number = () => performance.now()) {
  const started_at = new Date().toISOString();
  const version = ownVersion();
  let ended = 0;
  const looks = [{ at: now(), ended }];
  return {
    jobEnded: (): void => void (ended += 1),
    read() {
      const at = now();
      looks.push({ at, ended });
      // The first one stays the newest that is a minute old.
      while ((looks[1]?.at ?? at) <= at - minute_ms) looks.shift();
      const jobs_per_minute = ended - (looks[0]?.ended ?? 0);
      const memory_bytes = process.memoryUsage.rss();
      return { started_at, memory_bytes, jobs_per_minute, ...(version !== undefined && { version }) };
    },
  };
}

/** Undefined in a bundle, which lacks our package.json. */
function ownVersion(): string | undefined {
  try {
    const found = createRequire(import.meta.url)("../../package.json") as { name: string; version: string };
    return found.name === "@atlasqueue/worker" ? found.version : undefined;
  } catch {
    return undefined;
  }
}
