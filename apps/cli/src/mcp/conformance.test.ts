// @module-tag nightly
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { cliSystem } from "../../test/run-cli.ts";

// The official conformance suite, as far as it needs no tools of its own on the server: most of its scenarios do.
const system = forFile(cliSystem);

const require = createRequire(import.meta.url);
const suite = require.resolve("@modelcontextprotocol/conformance/dist/index.js");

test.each([
  "server-initialize",
  "ping",
  "tools-list",
  "resources-list",
  "prompts-list",
  "sep-2164-resource-not-found",
  "dns-rebinding-protection",
  "caching",
  "http-header-validation",
])("%s", async (scenario) => {
  const args = [suite, "server", "--url", `${system.api.url}/mcp`, "--scenario", scenario];
  const said = await new Promise<string>((resolve) =>
    execFile(process.execPath, args, { cwd: import.meta.dirname }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    ),
  );
  expect(said).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/);
});
