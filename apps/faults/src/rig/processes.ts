import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "@atlasqueue/harness/servers";
import type { History } from "../history/open-history.ts";
import { alive } from "./alive.ts";

export type Role = "api" | "worker" | "remote" | "submitter";

/** A program that the rig starts, and starts again when it ends. */
type Member = {
  name: string;
  role: Role;
  file: string;
  args?: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The links it uses. */
  uses: readonly string[];
};

export type Processes = {
  start(member: Member): void;
  /** Sends a signal to the program; one that does not end it, also to all processes it has started. */
  signal(name: string, signal: NodeJS.Signals): void;
  /** Has it set its clock off, or stand still, for so long. */
  order(name: string, order: { clock_ms?: number; block_ms?: number }): void;
  /**
   * Tells those of a role to end, waits for it, kills the rest; gives the names of those that had to be killed. At the
   * signal they are left to `killAll`.
   */
  end(role: Role, wait_ms_max: number, signal: AbortSignal): Promise<string[]>;
  /** Kills what is left, without a word. */
  killAll(): void;
  /** What is running now. */
  running(): { name: string; role: Role; pid: number }[];
};

type Running = { member: Member; child: ChildProcess; pid: number; told: boolean; gone: boolean };

const again_ms = 500;
const preload = new URL("./preload.ts", import.meta.url).href;

/** `folder` gets what the programs print, a file for each. */
export function keepProcesses(folder: string, history: History): Processes {
  const all = new Map<string, Running>();
  const ending = new Set<Role>();
  let over = false;
  const ordersOf = (name: string) => join(folder, `${name}.orders.json`);

  function start(member: Member): void {
    const output = openSync(join(folder, `${member.name}.log`), "a");
    const child = spawn(process.execPath, ["--import", preload, member.file, ...(member.args ?? [])], {
      detached: true,
      stdio: ["ignore", output, output],
      env: { ...inherited, ...member.env, FAULTS_ORDERS: ordersOf(member.name) },
    });
    closeSync(output);
    const { name, role, uses } = member;
    const one: Running = { member, child, pid: child.pid ?? 0, told: false, gone: false };
    all.set(name, one);
    const life = history.invoke("process", { name, role, pid: one.pid, uses: [...uses] });
    child.once("error", () => {});
    child.once("exit", (code, signal) => {
      one.gone = true;
      life.ok({ code, signal, victim: one.told });
      if (over || ending.has(role)) return;
      void delay(again_ms).then(() => over || ending.has(role) || start(member));
    });
  }
  const send = (one: Running, signal: NodeJS.Signals) => {
    if (one.gone) return;
    try {
      process.kill(-one.pid, signal);
    } catch {
      // It has ended just now.
    }
  };
  const living = () => [...all.values()].filter((one) => !one.gone);
  const killAll = () => {
    over = true;
    for (const one of all.values()) {
      one.told = true;
      if (!one.gone || alive(-one.pid)) send({ ...one, gone: false }, "SIGKILL");
    }
  };
  process.once("exit", killAll);
  return {
    start,
    signal(name, signal) {
      const one = all.get(name);
      if (!one) throw new Error(`there is no program ${name}`);
      const ends = signal === "SIGKILL" || signal === "SIGTERM";
      if (ends) one.told = true;
      // What it has started must notice its end by itself.
      if (!ends) send(one, signal);
      else if (!one.gone) one.child.kill(signal);
    },
    order(name, order) {
      writeFileSync(ordersOf(name), JSON.stringify(order));
      const one = all.get(name);
      if (one && !one.gone) one.child.kill("SIGUSR2");
    },
    async end(role, wait_ms_max, signal) {
      ending.add(role);
      const ours = living().filter(({ member }) => member.role === role);
      for (const one of ours) {
        one.told = true;
        // Only the program itself, which ends what it has started.
        one.child.kill("SIGTERM");
        send(one, "SIGCONT");
      }
      const gone = () => ours.every((one) => one.gone);
      await eventually(() => gone() || signal.aborted, { timeout_ms: wait_ms_max, interval_ms: 50 }).catch(() => {});
      if (signal.aborted) return [];
      const late = ours.filter((one) => !one.gone);
      for (const one of late) send(one, "SIGKILL");
      await eventually(gone, { timeout_ms: 5_000 });
      return late.map(({ member }) => member.name);
    },
    killAll,
    running: () => living().map(({ member, pid }) => ({ name: member.name, role: member.role, pid })),
  };
}

/** What any program needs of ours; settings of the shell must not reach those under test. */
const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
const inherited = { PATH, HOME, TMPDIR };
