export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** For --help; the guide has them in a table. */
export const exitCodesText =
  "Exit codes: 0 done; 1 failed (one line on stderr says why), refused by the API, not confirmed, or, of `doctor`,\n" +
  "something is wrong; 2 wrong usage.";

/** Something a person can fix. The message is one line and says how. */
export class Trouble extends Error {
  override readonly name = "Trouble";
  constructor(message: string, options?: ErrorOptions) {
    super(oneLine(message), options);
  }
}

/** Servers describe their problems in several lines. */
function oneLine(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" | ");
}

/**
 * Run a command. What a person can fix ends the process with one line on stderr and exit code 1; anything else is a bug
 * and keeps its stack.
 *
 * @example
 * await orExit(async () => migrateDatabase(url));
 */
export async function orExit<T>(command: () => Promise<T>): Promise<T> {
  try {
    return await command();
  } catch (error) {
    const line = await lineOf(error);
    if (line === undefined) throw error;
    process.stderr.write(`${line}\n`);
    process.exit(exitCodes.failed);
  }
}

async function lineOf(error: unknown): Promise<string | undefined> {
  if (error instanceof Trouble) return error.message;
  const { troubleLine } = await import("@atlasqueue/program/process");
  return troubleLine(error);
}
