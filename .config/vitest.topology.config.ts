import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

// The whole system in the places where it lives, each a file that `pnpm topology` is told to run.
export default defineConfig({
  test: {
    include: ["packages/system-tests/topology/*.test.ts"],
    pool: "forks",
    // What is measured is not to be disturbed by another system.
    fileParallelism: false,
    env: { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled` },
    testTimeout: 240_000,
    hookTimeout: 240_000,
    globalSetup: `${root}packages/testing/src/servers/global-setup.ts`,
    reporters: ["verbose", `${root}packages/system-tests/topology/harness/reporter.ts`],
    passWithNoTests: false,
  },
});
