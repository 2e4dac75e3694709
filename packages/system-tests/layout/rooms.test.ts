import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// Newcomers must find their way around: rooms of a readable size, and arrows that go one way.
const root = fileURLToPath(new URL("../../..", import.meta.url));
const sources = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => /^(apps|packages)\/[^/]+\/src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file));
const known = new Set(sources);

const houseOf = (file: string) => file.split("/").slice(0, 3).join("/");
const houses = [...new Set(sources.map(houseOf))];

const imports = new Map(
  sources.map((file) => {
    const found = readFileSync(`${root}/${file}`, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g);
    const targets = [...found].map(([, path = ""]) => normalize(join(dirname(file), path)));
    return [file, [...new Set(targets)].filter((target) => known.has(target))];
  }),
);

/** The first import cycle found from a file, types included, as the files on it. */
function circleFrom(file: string, path: string[], done: Set<string>): string[] | undefined {
  const at = path.indexOf(file);
  if (at !== -1) return [...path.slice(at), file];
  if (done.has(file)) return undefined;
  for (const next of imports.get(file) ?? []) {
    const circle = circleFrom(next, [...path, file], done);
    if (circle) return circle;
  }
  done.add(file);
  return undefined;
}

test("no files import each other in a cycle, not even for a type", () => {
  const done = new Set<string>();
  expect(sources.map((file) => circleFrom(file, [], done)).find(Boolean)).toBeUndefined();
});

test.each(houses)("%s has at most eight loose files, and no folder of more than twenty", (house) => {
  const folders = Map.groupBy(
    sources.filter((file) => houseOf(file) === house),
    (file) => relative(house, dirname(file)),
  );
  expect(folders.get("")?.length ?? 0).toBeLessThanOrEqual(8);
  expect([...folders].filter(([, files]) => files.length > 20).map(([folder]) => folder)).toEqual([]);
});

/** What a room of core may import from the files beside the rooms: what is below all of them. */
const ground = ["deps.ts", "ids.ts", "pause.ts", "shares.ts"].map((file) => `packages/core/src/${file}`);

/** Those that themselves set work going after a commit, and the sweep. */
const callersOfFollowUps =
  /^packages\/core\/src\/(dead-letters\/bulk|flows\/act-on-flow|jobs\/bulk|maintenance\/loop|schedules\/fire-due|submit\/|remote\/)/;

test("no room of core imports what is above the rooms", () => {
  const upward = sources
    .filter((file) => /^packages\/core\/src\/(?!internal\/)[^/]+\//.test(file))
    .flatMap((file) => (imports.get(file) ?? []).map((target) => [file, target] as const))
    .filter(([, target]) => dirname(target) === "packages/core/src" && !ground.includes(target))
    .filter(([file, target]) => !(target.endsWith("/follow-ups.ts") && callersOfFollowUps.test(file)));
  expect(upward).toEqual([]);
});
