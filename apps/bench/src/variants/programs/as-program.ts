/** Be a program of `start-program.ts`: start with the settings, report that we are ready, stop on SIGTERM. */
export async function asProgram<Settings>(
  start: (settings: Settings, say: (message: object) => void) => Promise<{ ready: object; stop(): Promise<unknown> }>,
): Promise<void> {
  // If our parent is gone, nothing else would stop us.
  process.on("disconnect", () => process.exit(0));
  const say = (message: object) => void (process.connected && process.send?.(message));
  const { ready, stop } = await start(JSON.parse(process.argv[2] ?? "{}") as Settings, say);
  process.once("SIGTERM", () => void stop().finally(() => process.exit(0)));
  say(ready);
}

/** Calls `tell` a while after the first of several calls, once for all. Sets no timer while nothing happens. */
export function soon(wait_ms: number, tell: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      tell();
    }, wait_ms);
  };
}
