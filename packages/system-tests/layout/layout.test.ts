import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

// The house rules, so that a change that breaks one learns which. CONTRIBUTING.md explains them.
const root = fileURLToPath(new URL("../../..", import.meta.url));
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => file !== "");
/** What is published or runs: `src` of our packages. Tests, examples and build scripts may do as they like. */
const sources = files.filter(
  (file) => /^(apps|packages)\/[^/]+\/src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file),
);
const read = (file: string) => readFileSync(`${root}/${file}`, "utf8");
const places = (pattern: RegExp, allowed: RegExp) =>
  sources.filter((file) => !allowed.test(file) && pattern.test(withoutComments(read(file))));
const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

test("the top level holds what the map says, and nothing else", () => {
  const top = [...new Set(files.map((file) => file.split("/")[0]))].filter((name) => !name?.startsWith("."));
  expect(top.toSorted()).toEqual(
    [
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "LICENSE",
      "README.md",
      "apps",
      "docker-compose.yml",
      "drizzle",
      "package.json",
      "packages",
      "pnpm-lock.yaml",
      "pnpm-workspace.yaml",
      "turbo.json",
    ].toSorted(),
  );
});

/** Which of our packages the sources of each may import. Arrows point one way. */
const arrows: Record<string, string[]> = {
  "packages/contract": [],
  "packages/embedded": [],
  "packages/runtime": ["contract"],
  "packages/client": ["contract", "runtime"],
  "packages/bullmq": ["contract", "client"],
  "packages/core": ["contract"],
  "packages/program": ["contract", "core"],
  "packages/telemetry": ["contract", "core", "program"],
  "packages/worker": ["contract", "core", "program", "runtime"],
  "packages/nestjs": ["contract", "core", "worker"],
  "packages/test-kit": ["contract", "core", "runtime", "worker"],
  "packages/testing": ["contract", "core", "embedded"],
  "apps/api": ["contract", "core", "program", "runtime", "telemetry", "worker", "mcp"],
  "apps/worker": ["core", "program", "telemetry", "worker"],
  "apps/dashboard": ["contract", "client"],
  "apps/mcp": ["contract", "client"],
  "apps/cli": ["contract", "client", "bullmq", "core", "program", "embedded", "api", "worker-app", "mcp"],
  "apps/bench": ["contract", "core", "worker", "embedded", "api", "worker-app", "harness"],
  "apps/faults": ["contract", "client", "core", "worker", "embedded", "api", "worker-app", "harness"],
};

test.each(Object.entries(arrows))("%s imports only what lies below it", (folder, below) => {
  const own = sources.filter((file) => file.startsWith(`${folder}/src/`));
  const imported = own.flatMap((file) =>
    [...read(file).matchAll(/(?:from|import\()\s*"@atlasqueue\/([a-z-]+)/g)].map((found) => found[1]),
  );
  expect([...new Set(imported)].filter((name) => !below.includes(name ?? ""))).toEqual([]);
});

/** Packages without `src`, which may import anything: nothing imports them. */
const withoutSources = ["apps/docs", "packages/deploy", "packages/system-tests"];

test("every package has its arrows written down", () => {
  const packages = files
    .filter((file) => /^(apps|packages)\/[^/]+\/package\.json$/.test(file))
    .map((file) => dirname(file));
  expect(packages.toSorted()).toEqual([...Object.keys(arrows), ...withoutSources].toSorted());
  expect(sources.filter((file) => withoutSources.some((folder) => file.startsWith(`${folder}/`)))).toEqual([]);
});

test("what core exports only to our own apps and packages is used by them", () => {
  const named = (text: string, from: RegExp) =>
    [...text.matchAll(/\{([^}]*)\}\s*from "([^"]+)"/g)]
      .filter(([, , path = ""]) => from.test(path))
      .flatMap(([, names = ""]) =>
        names.split(",").map(
          (name) =>
            name
              .trim()
              .replace(/^type /, "")
              .split(" as ")[0],
        ),
      )
      .filter((name) => name !== "");
  const entries = files.filter((file) => /^packages\/core\/src\/internal(\/\w+)?\.ts$/.test(file));
  const exported = entries.flatMap((file) => named(read(file), /^\./));
  const used = new Set(
    files
      .filter((file) => file.endsWith(".ts") && !file.startsWith("packages/core/src/"))
      .flatMap((file) => named(read(file), /^@atlasqueue\/core\/internal/)),
  );
  expect(exported.length).toBeGreaterThan(0);
  expect(exported.filter((name) => !used.has(name))).toEqual([]);
});

test("process.env is read only in an app's config.ts and by what starts a process", () => {
  const allowed = /^apps\/[a-z]+\/(src|adapters)\/(config|main|fleet\/member-main|load\/config)\.ts$/;
  expect(
    places(
      /process\.env/,
      new RegExp(
        `${allowed.source}|^packages/testing/src/spawn-process\\.ts$` +
          "|^apps/faults/src/rig/(preload|processes)\\.ts$|^packages/core/src/memory-budget/bytes\\.ts$",
      ),
    ),
  ).toEqual([]);
});

test("SQL lives only in core", () => {
  const allowed = /^packages\/(core|embedded|testing)\/|^apps\/(bench|faults|cli\/src\/(seed|import))\//;
  expect(places(/\b(SELECT|INSERT INTO|UPDATE [\w.]+ SET|DELETE FROM)\b/, allowed)).toEqual([]);
});

test("drizzle is loaded in one place, the fast way", () => {
  const slowly = /^(?!\s*(?:im|ex)port type\b).*\bfrom "drizzle-orm|\bimport\("drizzle-orm/m;
  expect(places(slowly, /^packages\/core\/src\/database\/drizzle\.ts$/)).toEqual([]);
  expect(read("packages/core/src/database/drizzle.ts")).not.toMatch(slowly);
});

test("Redis commands are sent only from core's signal folder", () => {
  expect(
    places(
      /from "ioredis"/,
      /^packages\/core\/src\/signal\/|^packages\/testing\/|^apps\/(bench|faults|cli\/src\/import)\//,
    ),
  ).toEqual([]);
});

test("no source file is longer than can be taken in at a glance", () => {
  const long = sources.filter((file) => read(file).split("\n").length > 260);
  expect(long).toEqual([]);
});

test("the tags of tests have one spelling, by which their files are found", () => {
  const tests = files.filter(
    (file) =>
      /\/test\/|\.test\.ts$|system-tests/.test(file) && /\.tsx?$/.test(file) && !file.endsWith("/layout.test.ts"),
  );
  const tagged = tests.filter((file) => /\btags:\s*\[?\s*["'`](slow|nightly)/.test(read(file)));
  const found = (file: string) =>
    file.endsWith(".test.ts") && !/\btags:(?! \["(slow|nightly)"\])\s*\[?\s*["'`](slow|nightly)/.test(read(file));
  expect(tagged.length).toBeGreaterThan(50);
  expect(tagged.filter((file) => !found(file))).toEqual([]);
});
