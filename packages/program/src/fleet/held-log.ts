/** Where log lines go in the end. */
type Output = { write(text: string): unknown };

export type HeldLog = {
  write(line: string): void;
  /** Write what was held, and hold nothing from now on. */
  release(): void;
  /** The start failed: its one line is enough, and nothing is written from now on. */
  drop(): void;
};

/**
 * Holds log lines back until a program has printed what it prints at its start.
 *
 * @example
 * const log = heldLog(process.stdout);
 * log.release();
 */
export function heldLog(output: Output): HeldLog {
  let held: string[] | undefined = [];
  return {
    write(line) {
      if (held) held.push(line);
      else output.write(line);
    },
    release() {
      const lines = held ?? [];
      held = undefined;
      if (lines.length > 0) output.write(lines.join(""));
    },
    drop: () => void (held = []),
  };
}
