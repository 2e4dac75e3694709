import { readFileSync } from "node:fs";

type Facts = { parent: number; command: string };

const look_ms = 250;
const ancestors_max = 10;
const launches = /\b(npm|npx|pnpm|yarn|corepack)\b|^sh -c /;

/**
 * Calls back once when the `npx pnpm start` that ran us has ended. On Debian a SIGTERM to npx reaches the shell it
 * started (dash), which dies of it without passing it on: without this the system would go on, with nothing to stop it.
 * Does nothing where there is no /proc; macOS shells pass the signal on.
 */
export function onLauncherGone(gone: () => void): void {
  const chain = launchers();
  // The first one's own parent may come and go, as with nohup.
  if (chain.length < 2) return;
  const timer = setInterval(() => {
    const whole = chain.every((pid, at) => at === 0 || facts(chain[at - 1] as number)?.parent === pid);
    if (whole && process.ppid === chain[0]) return;
    clearInterval(timer);
    gone();
  }, look_ms);
  timer.unref();
}

/** The processes between the person's shell and us, from our parent up. */
function launchers(): number[] {
  const chain: number[] = [];
  for (let pid = process.ppid; chain.length < ancestors_max;) {
    const found = facts(pid);
    if (!found || !launches.test(found.command)) break;
    chain.push(pid);
    pid = found.parent;
  }
  return chain;
}

function facts(pid: number): Facts | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may hold anything; the state and the parent come after the last parenthesis.
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return { parent: Number(parent), command };
  } catch {
    return undefined;
  }
}
