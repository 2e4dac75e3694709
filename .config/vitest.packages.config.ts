import { defineConfig } from "vitest/config";

const folder = "packages/system-tests/published";

// What is published, as users get it: a step of its own, as it packs what is built, and installs from the npm registry.
export default defineConfig({
  test: {
    include: [`${folder}/*.test.ts`],
    globalSetup: `${folder}/pack.ts`,
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
  },
});
