import { defineConfig } from "vitest/config";

const folder = "packages/system-tests/published";
const release = `${folder}/release.test.ts`;

// What is published, as users get it: a step of its own, as it builds, and installs from the npm registry.
export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
    projects: [
      // It builds what the others pack.
      { extends: true, test: { name: "release", include: [release], sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: {
          name: "installed",
          include: [`${folder}/*.test.ts`],
          exclude: [release],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
