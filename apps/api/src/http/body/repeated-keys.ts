import { setImmediate as nextTurn } from "node:timers/promises";
import { pointerSegment, type Fault } from "@atlasqueue/contract";
import { invalid } from "../answers/problem.ts";

const faults_max = 20;

/** Tokens read without a rest: about a millisecond's worth. */
const tokens_max = 1_000;

/**
 * Throws a `validation` problem for an object with a duplicate key: readers differ in which of the two they take, so
 * what a proxy let pass may not be what we do. Only needed when the value has fewer keys than the text.
 *
 * @example
 * await refuseRepeatedKeys('{"type":"a","type":"b"}'); // 422: /type is given more than once
 */
export async function refuseRepeatedKeys(text: string): Promise<void> {
  const faults = await findRepeated(text);
  if (faults.length > 0) throw invalid(faults);
}

/** How many keys all the objects of a value have. */
export function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let keys = 0;
  // No recursion: a body may nest deeper than the stack goes.
  const left: object[] = [value];
  for (let next = left.pop(); next; next = left.pop()) {
    const names = Array.isArray(next) ? undefined : Object.keys(next);
    if (names) keys += names.length;
    for (const inner of names ? names.map((name) => (next as Record<string, unknown>)[name]) : (next as unknown[]))
      if (typeof inner === "object" && inner !== null) left.push(inner);
  }
  return keys;
}

type Level = { seen: Set<string> | undefined; part: string | number };

/** The text is JSON: it was parsed before. */
async function findRepeated(text: string): Promise<Fault[]> {
  const faults: Fault[] = [];
  const levels: Level[] = [];
  let tokens = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:\s*:)?|[[\]{},]/gs)) {
    if ((tokens += 1) % tokens_max === 0) await nextTurn();
    const level = levels.at(-1);
    if (token === "{") levels.push({ seen: new Set(), part: "" });
    else if (token === "[") levels.push({ seen: undefined, part: 0 });
    else if (token === "}" || token === "]") levels.pop();
    else if (token === ",") {
      if (level && typeof level.part === "number") level.part += 1;
    } else if (token.endsWith(":") && level?.seen) {
      const key = JSON.parse(token.slice(0, -1)) as string;
      level.part = key;
      if (level.seen.size === level.seen.add(key).size)
        faults.push({ pointer: pointerOf(levels), message: "is given more than once" });
      if (faults.length >= faults_max) break;
    }
  }
  return faults;
}

function pointerOf(levels: readonly Level[]): string {
  return levels
    .map(({ part }) => `/${pointerSegment(String(part))}`)
    .join("")
    .slice(0, 500);
}
