import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { findProgram } from "@atlasqueue/harness";

export const folder = fileURLToPath(new URL("../../../python", import.meta.url));

/** The Python that has what the package's tests need. */
export function python(): string {
  const found = findProgram("python_tools");
  if (found === undefined)
    throw new Error("there is no such Python here; `pnpm test:slow` installs it, or prints how to install it");
  return found;
}

/** Runs a command in the Python package. Throws with all that it wrote if it fails. */
export async function run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: "src", PYTHONDONTWRITEBYTECODE: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const output of [child.stdout, child.stderr])
    output.setEncoding("utf8").on("data", (text: string) => (said += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0)
    throw new Error(`${[command, ...args].join(" ")} exited with ${String(code)}:\n${said.slice(-20_000)}`);
  return said;
}
