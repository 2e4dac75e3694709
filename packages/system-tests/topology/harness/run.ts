import { spawn } from "node:child_process";

export type Ran = { code: number | null; stdout: string; stderr: string };
export type RunOptions = { env?: Readonly<Record<string, string>>; timeout_ms?: number; cwd?: string };

/** A command and its output, killed at its deadline (a minute, unless told otherwise). Does not judge its exit code. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, timeout_ms = 60_000, cwd } = options;
  return new Promise((resolve, reject) => {
    // `env` adds to what this process has.
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const child = spawn("env", [...variables, command, ...args], {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeout_ms,
      killSignal: "SIGKILL",
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** The same where only 0 will do: its stdout. Throws with the last lines of what it said. */
export async function mustRun(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, options);
  if (code === 0) return stdout;
  const said = `${stdout}\n${stderr}`.trim().split("\n").slice(-20).join("\n");
  throw new Error(`${command} ${args.join(" ")} ended with ${code ?? "its deadline"}:\n${said}`);
}
