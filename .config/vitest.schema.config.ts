import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { quickTests, slowTests } from "./quick-tests.ts";

/** Needs quotes, which `search_path` and statements that forget the schema's name would betray. */
const schema = "Odd-1";
const root = fileURLToPath(new URL("..", import.meta.url));

/** They are about the default schema, or send parts of our statements themselves. */
const left_out = [
  "packages/core/src/database/composed.test.ts",
  "packages/core/src/database/migrations.test.ts",
  "packages/core/src/database/migrating/**",
  "packages/core/src/database/by-*.test.ts",
  "packages/core/src/limits/rates.test.ts",
  "packages/core/src/rollups/flush.test.ts",
  "packages/core/test/explorer/complete.test.ts",
  "packages/core/test/model/model.test.ts",
];

/** As statements have it, not as settings, host names and programs do. */
const qualified =
  /(?<!_(?:config|setting)(?:\\?\('?)?)(?<!")\batlasqueue(\\?)\.(?=[a-z_]+\b|\$\{)(?!org|test|example|local)/g;

/** The tests' own statements name tables as ours do: `atlasqueue.jobs`. */
const inAnotherSchema: Plugin = {
  name: "in-another-schema",
  enforce: "pre",
  transform(code, file) {
    if (file.endsWith("/core/src/database/schema/name.ts"))
      return code.replace(": string = defaultSchema", `: string = "${schema}"`);
    if (!/\.test\.ts$|\/test\/|\/packages\/testing\/src\//.test(file)) return undefined;
    return code
      .replaceAll("(`atlasqueue.", `(\`${schema}.`)
      .replaceAll(/"atlasqueue\.(\w+)"/g, `"${schema}.$1"`)
      .replaceAll("SCHEMA atlasqueue", `SCHEMA \\"${schema}\\"`)
      .replaceAll(qualified, `\\"${schema}\\"$1.`);
  },
};

/**
 * The tests of core, each in the schema `Odd-1` of its database, as a role that looks for tables nowhere.
 */
export default defineConfig({
  plugins: [inAnotherSchema],
  test: {
    pool: "forks",
    maxWorkers: 3,
    isolate: false,
    env: { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled`, DATABASE_SCHEMA: schema },
    testTimeout: 240_000,
    hookTimeout: 240_000,
    unstubEnvs: true,
    restoreMocks: true,
    passWithNoTests: false,
    include: ["packages/core/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", ...quickTests(root), ...slowTests(root).all, ...left_out],
    tags: ["slow", "nightly"].map((name) => ({ name, description: "Left out here." })),
    globalSetup: `${root}packages/testing/src/servers/search-path-setup.ts`,
  },
});
