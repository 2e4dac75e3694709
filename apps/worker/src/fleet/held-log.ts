import { logDestination } from "@atlasqueue/core/internal";

export type HeldLog = {
  write(line: string): void;
  /** Write what was held, and hold nothing from now on. */
  release(): void;
  /** The start failed: one line is enough, and the parent prints it. */
  drop(): void;
};

/** Holds log lines back until the parent has printed what it prints at its start. */
export function heldLog(): HeldLog {
  const output = logDestination();
  let held: string[] | undefined = [];
  return {
    write(line) {
      if (held) held.push(line);
      else output.write(line);
    },
    release() {
      const lines = held ?? [];
      held = undefined;
      for (const line of lines) output.write(line);
    },
    drop: () => void (held = []),
  };
}
