import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["apps/**/*.test.ts", "packages/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    // One PostgreSQL and one Redis for the whole run.
    globalSetup: "packages/testing/src/servers/global-setup.ts",
    // Processes, not threads: tests spawn servers, send signals and set the environment.
    pool: "forks",
    maxWorkers: 2,
    // The processes that tests start keep what Node compiled, from one to the next and from run to run.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url)) },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
  },
});
