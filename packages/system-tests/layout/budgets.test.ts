import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

// What a reader must hold in mind is bounded. A limit is where we are and `budget` where we want to be: lower the limit
// when code goes. Limits of tables and indexes are in core's tables.test.ts, of README and CHANGELOG in wording.test.ts.
const root = fileURLToPath(new URL("../../..", import.meta.url));
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
}).split("\n");
const read = (file: string) => readFileSync(`${root}/${file}`, "utf8");
const linesOf = (found: readonly string[]) =>
  found.reduce((lines, file) => lines + read(file).split("\n").length - 1, 0);

const isTest = (file: string) => /\.tsx?$/.test(file) && (/\.test\.tsx?$|\/test\//.test(file) || inSystemTests(file));
/** Packages that came after the budget of tests was set, and a command and an example of the same time. */
const later =
  /^(?:apps\/(?:docs|cli\/src\/import)|packages\/(?:bullmq|nestjs|python|test-kit))\/|\/published\/frameworks\.test\.ts$/;
const inSystemTests = (file: string) => file.startsWith("packages/system-tests/");
const sourcesOf = (...folders: string[]) =>
  files.filter(
    (file) => /\.tsx?$/.test(file) && !isTest(file) && folders.some((folder) => file.startsWith(`${folder}/src/`)),
  );
const core = sourcesOf("packages/core");
const importer = sourcesOf("apps/cli").filter((file) => file.startsWith("apps/cli/src/import/"));

const snapshots = (pattern: RegExp) =>
  files.filter((file) => file.startsWith("packages/core/sql/") && pattern.test(file.slice("packages/core/sql/".length)))
    .length;

/** A file of core, the files that it loads, and those that they load. Imports of types alone load nothing. */
const behind = (file: string) => load(`packages/core/src/${file}`, new Set()).size;
function load(file: string, seen: Set<string>): Set<string> {
  if (seen.has(file) || !core.includes(file)) return seen;
  seen.add(file);
  for (const [, names = "", path = ""] of read(file).matchAll(/^(?:im|ex)port\s+([^;]*?)\s+from\s+"(\.[^"]+)"/gm))
    if (!isOfTypes(names)) load(join(dirname(file), path), seen);
  return seen;
}
const isOfTypes = (names: string) => /^type\s|^\{(?:\s*type [^,}]+,?)+\s*\}$/.test(names);

/** Of the entry of core's `internal` that has most. */
const namesOfInternal = () => Math.max(...files.filter((file) => internal.test(file)).map(namesIn));
const internal = /^packages\/core\/src\/internal(\/\w+)?\.ts$/;
const namesIn = (file: string) =>
  [...read(file).matchAll(/\{([^}]*)\}/g)]
    .flatMap(([, names = ""]) => names.split(","))
    .filter((name) => name.trim() !== "").length;

type Figure = { name: string; is: () => number; limit: number; budget: number };
const figures: Figure[] = [
  { name: "lines of core", is: () => linesOf(core), limit: 23_860, budget: 20_000 },
  { name: "files of core", is: () => core.length, limit: 280, budget: 280 },
  { name: "files behind a claim", is: () => behind("lease/claim.ts"), limit: 25, budget: 25 },
  { name: "files behind the submitter", is: () => behind("submit/submitter.ts"), limit: 35, budget: 35 },
  { name: "files behind follow-ups", is: () => behind("follow-ups.ts"), limit: 50, budget: 60 },
  { name: "names that core exports to one of our packages", is: namesOfInternal, limit: 143, budget: 150 },
  { name: "SQL snapshots", is: () => snapshots(/\.sql$/), limit: 120, budget: 120 },
  // The reason for the third is with their text.
  { name: "texts of a claim", is: () => snapshots(/^lease\/claim(-.*)?\.sql$/), limit: 3, budget: 2 },
  { name: "texts of a settlement", is: () => snapshots(/^settle\/settle(-.*)?\.sql$/), limit: 1, budget: 2 },
  // Jobs of groups in the text of all related ones cost half as much again in batches, and twice as much alone. Plain ones in
  // the text of those of groups cost a fifth more by twenty, and six tenths more by 250.
  { name: "texts of an insert", is: () => snapshots(/^submit\/insert(-.*)?\.sql$/), limit: 3, budget: 2 },
  { name: "lines of the API", is: () => linesOf(sourcesOf("apps/api")), limit: 8_760, budget: 7_500 },
  { name: "lines of program", is: () => linesOf(sourcesOf("packages/program")), limit: 1_540, budget: 800 },
  {
    name: "lines of client, worker and their runtime",
    is: () => linesOf(sourcesOf("packages/client", "packages/worker", "packages/runtime")),
    limit: 7_500,
    budget: 6_000,
  },
  { name: "lines of BullMQ's facade", is: () => linesOf(sourcesOf("packages/bullmq")), limit: 938, budget: 900 },
  { name: "lines of the Nest module", is: () => linesOf(sourcesOf("packages/nestjs")), limit: 305, budget: 600 },
  { name: "lines of the test kit", is: () => linesOf(sourcesOf("packages/test-kit")), limit: 600, budget: 600 },
  {
    name: "lines of the import from other queues",
    is: () => linesOf(importer),
    limit: 435,
    budget: 500,
  },
  {
    name: "lines of tests",
    is: () => linesOf(files.filter((file) => isTest(file) && !later.test(file))),
    limit: 63_250,
    budget: 36_000,
  },
];

/** A limit further above its figure lets what has gone come back unseen. */
const slack = 0.03;

describe.each(figures)("$name", ({ is, limit, budget }) => {
  test(`are at most ${limit}, on the way to ${budget}`, () => {
    expect(is()).toBeLessThanOrEqual(limit);
  });

  test("have a limit that is no more than 3 % above them", () => {
    expect(limit * (1 - slack), "lower the limit to the figure").toBeLessThanOrEqual(is());
  });
});
