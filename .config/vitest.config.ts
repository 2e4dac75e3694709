import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { quickTests } from "./quick-tests.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const quick = quickTests(root);

export default defineConfig({
  test: {
    // Processes, not threads: tests spawn servers, send signals and set the environment.
    pool: "forks",
    maxWorkers: 2,
    // The processes that tests start keep what Node compiled, from one to the next and from run to run.
    env: { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled` },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
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
          name: "servers",
          include: ["apps/**/*.test.ts", "packages/**/*.test.ts"],
          // `pnpm test:packages` runs the last.
          exclude: ["**/node_modules/**", "**/dist/**", ...quick, "packages/testing/published/**"],
          // One PostgreSQL and one Redis for the whole run.
          globalSetup: `${root}packages/testing/src/servers/global-setup.ts`,
        },
      },
    ],
  },
});
