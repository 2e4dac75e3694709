import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** What a file imports that starts a process or uses a server. */
const slow =
  /from "(node:)?child_process"|from "@atlasqueue\/embedded"|import \{[^}]*\b(testDatabase|testCore|createDatabase|postgresUrl|redisUrl|ownServers|ownRedis|ownSignal|pgBouncer|startPrometheus|certificateAuthority|redisCluster|sentinelSet|tlsRedis|spawnProcess)\b[^}]*\} from/;

/** What is left of a file when it runs. */
const running = (text: string) => text.replaceAll(/^(im|ex)port type [^;]*;/gm, "");

/**
 * The test files that start no process and need no server. Nobody keeps a list: a file is quick when neither it nor
 * a file that it imports by a path imports one of these.
 *
 * @example
 * quickTests("/home/me/atlasqueue"); // ["apps/api/src/config.test.ts", …]
 */
export function quickTests(root: string): string[] {
  const known = new Map<string, boolean>();
  const isQuick = (file: string): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    // For a circle; the first answer counts.
    known.set(file, true);
    const text = running(readFileSync(join(root, file), "utf8"));
    const imported = [...text.matchAll(/(?:from|import\()\s*"(\.{1,2}\/[^"]+\.ts)"/g)].map(([, path = ""]) => path);
    const quick = !slow.test(text) && imported.every((path) => isQuick(join(dirname(file), path)));
    known.set(file, quick);
    return quick;
  };
  return testFiles(root).filter(isQuick);
}

/**
 * The test files that have a test with the tag `slow` or `nightly`, so that `pnpm test:slow` and `pnpm test:nightly` need
 * not load the others, and those with no other test, so that `pnpm test` need not load them.
 */
export function slowTests(root: string): { some: string[]; all: string[] } {
  const having = (pattern: RegExp) =>
    testFiles(root).filter((file) => pattern.test(readFileSync(join(root, file), "utf8")));
  return {
    some: having(/@module-tag (slow|nightly)|tags: \["(slow|nightly)"/),
    all: having(/@module-tag (slow|nightly)/),
  };
}

function testFiles(root: string): string[] {
  const found = globSync(["apps/**/*.test.ts", "packages/**/*.test.ts"], {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|dist)$/.test(name),
  });
  return found.toSorted();
}
