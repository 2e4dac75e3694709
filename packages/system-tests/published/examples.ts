import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * The pages for people who write programs, and the files their TypeScript goes into. The API's has none: its example is
 * of its own sources.
 */
const readmes = {
  "README.md": ["own-worker", "own-app"],
  "apps/docs/pages/start/quickstart.md": ["handlers"],
  "apps/docs/pages/start/tour.md": ["remote"],
  "packages/client/README.md": ["client"],
  "packages/contract/README.md": ["contract"],
  "packages/core/README.md": ["queue"],
  "packages/embedded/README.md": ["embedded"],
  "packages/telemetry/README.md": ["traces"],
  "packages/test-kit/README.md": ["testing"],
  "packages/worker/README.md": ["worker"],
  "apps/cli/README.md": [],
  "apps/worker/README.md": [],
} as const;

export type Example = (typeof readmes)[keyof typeof readmes][number];

/** Each example as written on its page. Throws when a page has a block that is not in the table. */
export function examples(): Map<Example, string> {
  const found = new Map<Example, string>();
  for (const [file, names] of Object.entries(readmes)) {
    const blocks = [...readFileSync(join(root, file), "utf8").matchAll(/```ts\n(.*?)```/gs)].map(
      ([, text = ""]) => text,
    );
    if (blocks.length !== names.length)
      throw new Error(`${file} has ${blocks.length} examples, and not ${names.length}`);
    names.forEach((name, at) => found.set(name, `${found.get(name) ?? ""}${blocks[at]}`));
  }
  return found;
}
