import { readFileSync, statSync } from "node:fs";
import { SettingError } from "@atlasqueue/core/internal/program";
import { z } from "zod";

export type Env = Readonly<Record<string, string | undefined>>;

/** What a cell has of its own, as in the environment; what this process has there does not count then. */
export const cellVariables: readonly string[] = (
  "DATABASE_URL DATABASE_URL_FILE DATABASE_SCHEMA DATABASE_TLS_CA_FILE REDIS_URL REDIS_URL_FILE REDIS_TLS_CA_FILE " +
  "REDIS_TLS_CERT_FILE REDIS_TLS_KEY_FILE REDIS_TLS_SERVERNAME JOB_QUEUE_KEY DLQ_KEY"
).split(" ");

const own = Object.fromEntries(cellVariables.map((name) => [name, z.string().optional()]));
const cells_max = 1_000;
const list = z
  .array(z.strictObject({ name: z.string().regex(/^[a-z][a-z0-9-]{0,30}$/), ...own }))
  .min(1)
  .max(cells_max);
const accepts =
  `the path of a JSON file with a list of 1 to ${cells_max} cells, each with a name of up to 31 characters of a-z, 0-9 and -, the first ` +
  `a letter, and as strings ${cellVariables.join(", ")}`;
const file_bytes_max = 1_024 * 1_024;

/** The cells of a file, home first, each with its name and its variables. Throws `SettingError`, which shows no secret. */
export function readCellsFile(path: string): [Env, ...Env[]] {
  const wrong = (why: string) => new SettingError(`CELLS_FILE must be ${accepts}; got ${JSON.stringify(path)}: ${why}`);
  try {
    if (statSync(path).size > file_bytes_max) throw wrong(`it is over ${file_bytes_max} bytes`);
    const { data, error } = list.safeParse(JSON.parse(readFileSync(path, "utf8")));
    if (data) return data as Env[] as [Env, ...Env[]];
    const [issue] = error.issues;
    const [at, key] = [...(issue?.path ?? []), ...(issue?.code === "unrecognized_keys" ? issue.keys : [])];
    throw wrong(
      at === undefined ? "it has no such list" : `cell ${Number(at) + 1} is wrong in ${String(key ?? "itself")}`,
    );
  } catch (error) {
    if (error instanceof SettingError) throw error;
    // The parser's own words would show a part of the file, and so perhaps a password.
    throw wrong(
      error instanceof SyntaxError ? "it is not JSON" : ((error as NodeJS.ErrnoException).code ?? "unreadable"),
    );
  }
}
