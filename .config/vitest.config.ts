import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./longest-first.ts";
import { quickTests, slowTests } from "./quick-tests.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const slow = slowTests(root);
const quick = quickTests(root).filter((file) => !slow.all.includes(file));

/** Real servers: what "servers" and "slow" have in common. */
const withServers = {
  // One process runs many files, as importing core for each took a third of the time. Modules keep nothing.
  isolate: false,
  // `pnpm test:packages` and `pnpm topology` run the last two.
  exclude: [
    "**/node_modules/**",
    "**/dist/**",
    "packages/system-tests/published/**",
    "packages/system-tests/topology/*.test.ts",
  ],
  // One PostgreSQL and one Redis for the whole run.
  globalSetup: `${root}packages/testing/src/servers/global-setup.ts`,
};

export default defineConfig({
  test: {
    // Processes, not threads: tests spawn servers, send signals and set the environment.
    pool: "forks",
    // Two leave a third of two processors idle. `pnpm test:slow` has two: its tests of what happens in time need the rest.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // The processes that tests start keep what Node compiled, from one to the next and from run to run.
    env: { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled` },
    // Well above the minute that `eventually` waits at most: the error should say what was waited for. Starting a
    // process may take many seconds on a busy machine, and some tests start five.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // What a test puts in place of something real is gone before the next, in whichever file that is.
    unstubEnvs: true,
    restoreMocks: true,
    passWithNoTests: false,
    tags: [
      { name: "slow", description: "Explores, takes seconds, or needs a quiet machine: left to `pnpm test:all`." },
      { name: "nightly", description: "Takes long and is no guarantee's only test: left to `.ci/nightly`." },
    ],
    projects: [
      {
        extends: true,
        test: {
          name: "quick",
          include: quick,
          // They leave nothing behind that the next one could meet.
          isolate: false,
          setupFiles: `${root}.config/no-processes.ts`,
        },
      },
      {
        extends: true,
        test: {
          ...withServers,
          name: "servers",
          include: ["apps/**/*.test.ts", "packages/**/*.test.ts"],
          exclude: [...withServers.exclude, ...quick, ...slow.all],
        },
      },
      {
        extends: true,
        test: { ...withServers, name: "slow", include: slow.some },
      },
    ],
  },
});
