import { readFileSync, statSync } from "node:fs";
import { SettingError } from "@atlasqueue/core/internal/program";

export type Env = Readonly<Record<string, string | undefined>>;

/** What each cell of CELLS_FILE may have of its own, as in the environment. What this process has there does not count then. */
export const cellVariables: readonly string[] = [
  "DATABASE_URL",
  "DATABASE_URL_FILE",
  "DATABASE_SCHEMA",
  "DATABASE_TLS_CA_FILE",
  "REDIS_URL",
  "REDIS_URL_FILE",
  "REDIS_TLS_CA_FILE",
  "REDIS_TLS_CERT_FILE",
  "REDIS_TLS_KEY_FILE",
  "REDIS_TLS_SERVERNAME",
  "JOB_QUEUE_KEY",
  "DLQ_KEY",
];

const cells_max = 1_000;
const file_bytes_max = 1_024 * 1_024;
const cell_name = /^[a-z][a-z0-9-]{0,30}$/;
const example = '[{ "name": "home", "DATABASE_URL": "postgres://…" }, …]';

/** The cells of a file, home first, each with its name and its variables. Throws `SettingError`, which shows no secret. */
export function readCellsFile(path: string): [Env, ...Env[]] {
  const wrong = (rule: string, got: unknown) =>
    new SettingError(`CELLS_FILE must ${rule}; got ${typeof got === "string" ? JSON.stringify(got) : typeof got}`);
  const [home, ...others] = cellsIn(path).map((cell: unknown, at) => {
    const place = `in cell ${at + 1}`;
    if (typeof cell !== "object" || cell === null) throw wrong(`have an object ${place}`, cell);
    const { name } = cell as { name?: unknown };
    if (typeof name !== "string" || !cell_name.test(name))
      throw wrong(`have a name ${place} of 1 to 31 characters of a-z, 0-9 and -, the first a letter`, name);
    for (const [variable, value] of Object.entries(cell)) {
      if (variable === "name") continue;
      if (!cellVariables.includes(variable))
        throw wrong(`have in cell ${name} only name, ${cellVariables.join(", ")}`, variable);
      if (typeof value !== "string") throw wrong(`have a string as ${variable} of cell ${name}`, value);
    }
    return cell as Env;
  });
  if (home === undefined) throw wrong("list at least one cell", path);
  return [home, ...others];
}

function cellsIn(path: string): unknown[] {
  const wrong = (why: string) =>
    new SettingError(
      `CELLS_FILE must be the path of a JSON file such as ${example}; got ${JSON.stringify(path)}: ${why}`,
    );
  let text: string;
  try {
    if (statSync(path).size > file_bytes_max) throw wrong(`it is over ${file_bytes_max} bytes`);
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw error instanceof SettingError ? error : wrong((error as NodeJS.ErrnoException).code ?? "it cannot be read");
  }
  let cells: unknown;
  try {
    cells = JSON.parse(text);
  } catch {
    // The parser's own words would show a part of the file, and so perhaps a password.
    throw wrong("it is not JSON");
  }
  if (!Array.isArray(cells)) throw wrong("it is not a list");
  if (cells.length > cells_max) throw wrong(`it has over ${cells_max} cells`);
  return cells;
}
