import type { Deps } from "@atlasqueue/core/internal";
import { noteTokenUse } from "@atlasqueue/core/internal/http";

const write_every_ms = 60_000;

/**
 * Remembers when tokens were last used, and stores it once a minute and at the end: one statement for all tokens, not
 * one per request.
 *
 * @example
 * const uses = createTokenUses(deps);
 */
export function createTokenUses(deps: Deps, every_ms: number = write_every_ms) {
  const used = new Map<string, { tenant: string; at: number }>();
  let timer: NodeJS.Timeout | undefined;

  const write = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const now = performance.now();
    const uses = [...used].map(([id, { tenant, at }]) => ({ tenant, id, ms_ago: now - at }));
    used.clear();
    try {
      await noteTokenUse(deps, uses);
    } catch (error) {
      // Whatever it is: this is for people tidying up tokens, and worth neither a second try nor the process.
      const text = error instanceof Error ? error.message : String(error);
      deps.observe({ event: "database_unavailable", during: "noting when tokens were used", error: text });
    }
  };

  return {
    /** A request came with this token. Costs a map lookup. */
    note(tenant: string, token_id: string): void {
      used.set(token_id, { tenant, at: performance.now() });
      timer ??= setTimeout(() => void write(), every_ms).unref();
    },
    /** Writes what is not yet written. */
    close: write,
  };
}
