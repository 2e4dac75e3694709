/**
 * Holds log lines back until a program has printed what it prints at its start.
 *
 * @example
 * const log = heldLog(process.stdout);
 * log.release();
 */
export function heldLog(output: { write(text: string): unknown }) {
  let held: string[] | undefined = [];
  return {
    write(line: string): void {
      if (held) held.push(line);
      else output.write(line);
    },
    /** Write what was held, and hold nothing from now on. */
    release(): void {
      const lines = held ?? [];
      held = undefined;
      if (lines.length > 0) output.write(lines.join(""));
    },
    /** The start failed: its one line is enough, and nothing is written from now on. */
    drop: () => void (held = []),
  };
}
