import { execFile } from "node:child_process";
import { httpReceiver } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { mainFile } from "../test/run-start.ts";

/** Prints on stderr what its process loads, from the first file to the last. */
const telling = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  import { writeSync } from "node:fs";
  registerHooks({ load(url, context, next) { writeSync(2, url + "\\n"); return next(url, context); } });
`)}`;

/** The packages a command loads before it ends; its own files count as their folder. */
async function loadedBy(words: string[], env: Record<string, string> = {}): Promise<string[]> {
  const said = await new Promise<string>((resolve) =>
    execFile(
      process.execPath,
      ["--import", telling, mainFile, ...words],
      { env: { ...process.env, ...env } },
      (_error, _stdout, stderr) => resolve(stderr),
    ),
  );
  const names = said.split("\n").flatMap((url) => {
    const [, other] = /^file:.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
    const [, own] = /^file:.*\/((?:apps|packages)\/[^/]+)\/src\//.exec(url) ?? [];
    return other ?? own ?? [];
  });
  return [...new Set(names)].toSorted();
}

test("--help loads only the command line's definitions, and nothing the commands do", async () => {
  expect(await loadedBy(["--help"])).toEqual(["@commander-js/extra-typings", "apps/cli", "commander"]);
});

test("a command that talks to the API loads no driver, no schema of the database and no server", async () => {
  const api = await httpReceiver(() => ({ status: 200, body: '{"items":[],"next_cursor":null}' }));
  onTestFinished(() => api.close());
  const loaded = await loadedBy(["queues", "list"], { ATLASQUEUE_URL: api.url });
  expect(api.requests).toHaveLength(1);
  expect(loaded).toEqual(expect.arrayContaining(["apps/cli", "packages/client", "zod"]));
  expect(loaded).not.toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        /^(postgres|ioredis|drizzle-orm|pino|prom-client|hono|apps\/(api|worker)|packages\/worker)$/,
      ),
    ]),
  );
});

test("a command that talks to the database loads no API and no worker", async () => {
  const loaded = await loadedBy(["tokens", "list"], { DATABASE_URL: "postgres://127.0.0.1:1/nobody" });
  expect(loaded).toContain("postgres");
  expect(loaded).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(hono|apps\/(api|worker)|packages\/worker)$/)]),
  );
});

test("each command is loaded by its own name, and help for another loads that one", async () => {
  expect(await loadedBy(["help", "jobs"])).toContain("packages/client");
  expect(await loadedBy(["jobs", "--help"])).toContain("packages/client");
  expect(await loadedBy(["help", "api"])).not.toContain("packages/client");
});
