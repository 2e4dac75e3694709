import { plainJson } from "./plain.ts";

/** Where a command prints. `write` is for what a program reads, `tell` for what a person reads besides. */
export type Output = {
  write(text: string): void;
  tell(text: string): void;
  /** Whether a person reads what is written, rather than a program. */
  terminal: boolean;
  /** Of the terminal. */
  width: number;
  json: boolean;
};

/**
 * The process's own streams.
 *
 * @example
 * showTable(outputOf({ json: options.json }), columns, jobs);
 */
export function outputOf({ json = false }: { json?: boolean | undefined } = {}): Output {
  return {
    write: (text) => void process.stdout.write(text),
    tell: (text) => void process.stderr.write(text),
    terminal: process.stdout.isTTY,
    width: process.stdout.columns ?? 80,
    json,
  };
}

export function writeJson({ write }: Output, value: unknown): void {
  write(`${plainJson(value)}\n`);
}

/** A reader that has seen enough, like `head`, is not a failure. */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
