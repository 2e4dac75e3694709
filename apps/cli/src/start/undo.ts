export type Undo = {
  /** Run at the end, before what was added earlier. */
  add(step: () => Promise<unknown>): void;
  /**
   * Runs every step, whatever happened to the others, then rejects with the first failure. Calling it twice is fine.
   */
  run(): Promise<void>;
};

/** What was started, so that it can be stopped in reverse order. */
export function undoStack(): Undo {
  const steps: (() => Promise<unknown>)[] = [];
  const runAll = async () => {
    const failures: unknown[] = [];
    for (let step = steps.pop(); step; step = steps.pop()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
  let running: Promise<void> | undefined;
  return { add: (step) => void steps.push(step), run: () => (running ??= runAll()) };
}
