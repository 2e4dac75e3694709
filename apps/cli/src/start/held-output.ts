import type { Writable } from "node:stream";

export type HeldOutput = {
  write(line: string): void;
  /** Write what was held, and hold nothing from now on. */
  release(): void;
};

/** Holds log lines back until the banner is out, and for good when the start fails: then its one line is enough. */
export function heldOutput(output: Writable): HeldOutput {
  let held: string[] | undefined = [];
  // Our reader may leave (`start | head`): a queue goes on without an audience.
  output.on("error", () => {});
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
  };
}
