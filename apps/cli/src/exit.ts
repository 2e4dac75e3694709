import { troubleLine } from "@atlasqueue/core";

export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** Something a person can mend. The message is one line and says how. */
export class Trouble extends Error {
  override readonly name = "Trouble";
  constructor(message: string, options?: ErrorOptions) {
    super(oneLine(message), options);
  }
}

/** Servers tell their troubles in several lines. */
function oneLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" | ");
}

/**
 * Run a command. What a person can mend ends the process with one line on stderr and exit code 1; anything else is a
 * bug and keeps its stack.
 *
 * @example
 * await orExit(async () => migrateDatabase(url));
 */
export async function orExit<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command();
  } catch (error) {
    const line = lineOf(error);
    if (line === undefined) throw error;
    process.stderr.write(`${line}\n`);
    process.exit(exitCodes.failed);
  }
}

function lineOf(error: unknown): string | undefined {
  // By name, as `instanceof` would load the whole API for every command.
  if (error instanceof Trouble || (error instanceof Error && error.name === "StartError")) return error.message;
  return troubleLine(error);
}

/** A failure to listen, as a line that names the variable to change; other errors as they are. */
export function listenTrouble(error: unknown, variable: string, { host, port }: { host: string; port: number }): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const where = `${host}:${port}`;
  if (code === "EADDRINUSE")
    return new Trouble(`${where} is in use; stop what listens there, or set ${variable} to another port`);
  if (code === "EACCES") return new Trouble(`${where} may not be listened on; set ${variable} to a port above 1023`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new Trouble(`${host} is not an address of this machine; ${variable}'s host must be one`);
  return error;
}
