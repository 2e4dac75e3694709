import { defineConfig } from "vitest/config";

// What is published, as users get it: a step of its own, as it builds, and installs from the npm registry.
export default defineConfig({
  test: {
    include: ["packages/system-tests/published/*.test.ts"],
    pool: "forks",
    // One builds and the other packs what is built.
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
  },
});
