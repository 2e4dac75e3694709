import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

type Said = { code: number | null; stdout: string; stderr: string };

export type RunOptions = {
  cwd: string;
  /** Added to what a user's shell has. */
  env?: Readonly<Record<string, string>>;
  /** Prepended to PATH: where the `node` to run with is. */
  path?: string | undefined;
  timeout_ms?: number;
};

/** What a user's shell has: nothing from the pnpm and the vitest that run us, except the configured registry. */
export function usersEnvironment({ env = {}, path }: Pick<RunOptions, "env" | "path">): Record<string, string> {
  const ours = /^(npm_(?!config_registry)|pnpm_|INIT_CWD$|NODE_|VITEST|TEST$|DATABASE_URL|REDIS_URL)/i;
  const theirs = Object.entries(process.env).filter(([name]) => !ours.test(name) || name === "NODE_EXTRA_CA_CERTS");
  const own = { ...(Object.fromEntries(theirs) as Record<string, string>), ...env };
  return path === undefined ? own : { ...own, PATH: `${path}:${own["PATH"]}` };
}

/** Runs a command to its end, within three minutes unless given longer. */
async function run(command: string, args: readonly string[], options: RunOptions): Promise<Said> {
  const { cwd, timeout_ms = 180_000 } = options;
  const child = spawn(command, args, {
    cwd,
    env: usersEnvironment(options),
    stdio: ["ignore", "pipe", "pipe"],
    signal: AbortSignal.timeout(timeout_ms),
    killSignal: "SIGKILL",
  });
  const closed = new Promise<number | null>((resolve, reject) => child.once("error", reject).once("close", resolve));
  const [code, stdout, stderr] = await Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

/** Like `run`, but throws with its output when it fails. */
export async function succeed(command: string, args: readonly string[], options: RunOptions): Promise<Said> {
  const said = await run(command, args, options);
  if (said.code === 0) return said;
  throw new Error(`${command} ${args.join(" ")} ended with ${said.code}:\n${said.stdout}\n${said.stderr}`);
}
