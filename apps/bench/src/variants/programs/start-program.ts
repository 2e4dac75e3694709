import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export type Program = { pid: number; tell(message: string): void; stop(): Promise<void> };

/** Eight of them that start at once on a busy machine take their time. */
const start_seconds_max = 60;
const stop_seconds_max = 10;

/**
 * Run a file of this folder in its own process, with `settings` as its argument. Resolves with its first message; later
 * ones go to `hear`. It ends with us, as its channel closes.
 *
 * @example
 * const api = await startProgram<{ url: string }>(new URL("./api.ts", import.meta.url), servers);
 */
export function startProgram<Ready extends object>(
  file: URL,
  settings: object = {},
  hear?: (message: unknown) => void,
): Promise<Ready & Program> {
  const child = fork(fileURLToPath(file), [JSON.stringify(settings)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    const late = setTimeout(() => child.kill("SIGKILL"), stop_seconds_max * 1_000);
    child.kill("SIGTERM");
    await ended;
    clearTimeout(late);
  };
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`${file.pathname} did not start in ${start_seconds_max} s`));
    }, start_seconds_max * 1_000);
    child.once("exit", (code) => {
      clearTimeout(late);
      reject(new Error(`${file.pathname} ended with ${code} before it was ready`));
    });
    child.once("message", (ready) => {
      clearTimeout(late);
      if (hear) child.on("message", hear);
      resolve({ ...(ready as Ready), pid: child.pid ?? 0, tell: (message) => void child.send(message), stop });
    });
  });
}
