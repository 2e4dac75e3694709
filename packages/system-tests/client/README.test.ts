import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { testApi } from "./test-api.ts";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = fileURLToPath(new URL("../../client/", import.meta.url));
const readme = readFileSync(join(folder, "README.md"), "utf8");
const run = promisify(execFile);

const api = forFile(testApi);

test("the README's example runs as written", async () => {
  const [block = "", ...others] = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text = ""]) => text);
  expect(others).toEqual([]);
  const program = block.replaceAll("http://127.0.0.1:8000", api.url);
  // From here, where the client and zod can be imported by name.
  const said = await run(process.execPath, ["--input-type=module-typescript", "--eval", program], { cwd: here });
  const lines = said.stdout.trim().split("\n");
  expect(lines).toEqual(["true", "{ sent: 'ada@example.org', attempts: 1 }", "2"]);
});

test("the sources use nothing that only Node has", () => {
  for (const src of [join(folder, "src"), join(folder, "../runtime/src")]) {
    const files = readdirSync(src, { recursive: true, encoding: "utf8" });
    const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
    expect(sources.length).toBeGreaterThan(5);
    for (const file of sources) {
      const text = readFileSync(join(src, file), "utf8");
      expect(text, file).not.toMatch(/"node:|\bBuffer\b|\bprocess\.|\brequire\(|\.unref\(/);
      for (const [, name] of text.matchAll(/from "([^."][^"]*)"/g))
        expect(name, file).toMatch(/^@atlasqueue\/(contract(\/opentelemetry)?|runtime)$/);
    }
  }
});
