import type { LookupAddress } from "node:dns";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";

/** What the system makes of names before it asks DNS. */
export type SystemNames = {
  /** Of its hosts file, by the name in lower case. */
  hosts: ReadonlyMap<string, readonly LookupAddress[]>;
  /** What is appended to names. */
  suffixes: readonly string[];
  /** A name with so many dots is asked for as it stands before it is with suffixes. */
  ndots: number;
};

const suffixes_max = 10;

/** As of now: the files change while a process runs. A system without them has no such names. */
export async function readSystemNames(): Promise<SystemNames> {
  const read = (file: string) => readFile(file, "utf8").catch(() => "");
  const [hosts, resolver] = await Promise.all([read("/etc/hosts"), read("/etc/resolv.conf")]);
  return { hosts: hostsIn(hosts), ...resolverIn(resolver) };
}

function hostsIn(text: string): SystemNames["hosts"] {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = "", ...names] of wordsIn(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase()) ?? [];
      hosts.set(name.toLowerCase(), [...known, { address, family }]);
    }
  }
  return hosts;
}

export function resolverIn(text: string): Pick<SystemNames, "suffixes" | "ndots"> {
  let suffixes: string[] = [];
  let ndots = 1;
  for (const [word, ...values] of wordsIn(text)) {
    // The last of these lines counts.
    if (word === "search" || word === "domain")
      suffixes = values.map(withoutDot).filter(Boolean).slice(0, suffixes_max);
    const [, number] = (word === "options" && /(?:^| )ndots:(\d+)/.exec(values.join(" "))) || [];
    if (number !== undefined) ndots = Number(number);
  }
  return { suffixes, ndots };
}

/** The suffix `.` is none. */
const withoutDot = (suffix: string) => suffix.replace(/\.$/, "");
const wordsIn = (text: string) =>
  text.split("\n").map((line) =>
    line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/),
  );

/**
 * The names to ask DNS for, in turn, until one is known.
 *
 * @example
 * candidates("db.prod", { suffixes: ["svc.cluster.local"], ndots: 5 }); // ["db.prod.svc.cluster.local", "db.prod"]
 */
export function candidates(name: string, { suffixes, ndots }: Pick<SystemNames, "suffixes" | "ndots">): string[] {
  if (name.endsWith(".")) return [name.slice(0, -1)];
  const suffixed = suffixes.map((suffix) => `${name}.${suffix}`);
  return name.split(".").length > ndots ? [name, ...suffixed] : [...suffixed, name];
}
