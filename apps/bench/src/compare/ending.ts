/** What has to be removed or stopped at the end, in the reverse order. */
export type Ending = {
  add(act: () => Promise<unknown>): void;
  run(): Promise<void>;
  /** True from its beginning on: nothing new may be started. */
  hasBegun(): boolean;
};

/**
 * An ending that comes once: when it is run, or when a signal wants this process to end. An act that fails does not
 * keep the others from running.
 *
 * @example
 * const ending = createEnding();
 * try { ending.add(() => rm(folder, { recursive: true })); … } finally { await ending.run(); }
 */
export function createEnding(): Ending {
  const acts: (() => Promise<unknown>)[] = [];
  let running: Promise<void> | undefined;
  const runAll = async () => {
    for (let act = acts.pop(); act; act = acts.pop())
      await act().catch((error: unknown) => process.stderr.write(`while clearing up: ${String(error)}\n`));
  };
  const once = () => (running ??= runAll());
  const end = () => void once().finally(() => process.exit(130));
  process.once("SIGINT", end);
  process.once("SIGTERM", end);
  return {
    add: (act) => void acts.push(act),
    hasBegun: () => running !== undefined,
    async run() {
      await once();
      process.off("SIGINT", end);
      process.off("SIGTERM", end);
    },
  };
}
