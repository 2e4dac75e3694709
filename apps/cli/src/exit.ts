export const exitCodes = { ok: 0, failed: 1, usage: 2 } as const;

/** For --help; the README has them in a table. */
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

type Listening = { host: string; port: number };

/** A failure to listen, as a line that names the variable to change (`<prefix>_PORT`); other errors unchanged. */
export function listenTrouble(error: unknown, prefix: "API" | "WORKER_METRICS", { host, port }: Listening): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const where = `${host}:${port}`;
  if (code === "EADDRINUSE")
    return new Trouble(`${where} is in use; stop what listens there, or set ${prefix}_PORT to another port`);
  if (code === "EACCES") return new Trouble(`${where} may not be listened on; set ${prefix}_PORT to one above 1023`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new Trouble(`${prefix}_HOST must be an address of this machine; got ${JSON.stringify(host)}`);
  return error;
}
