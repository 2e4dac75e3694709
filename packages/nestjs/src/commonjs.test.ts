import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));

// As a Nest application does that is compiled to CommonJS.
test.each([
  "@atlasqueue/nestjs",
  "@atlasqueue/core",
  "@atlasqueue/worker",
  "@atlasqueue/testing",
  "atlasqueue/dashboard",
])("require() loads %s", (name) => {
  const script = `console.log(Object.keys(require(${JSON.stringify(name)})).join())`;
  const said = execFileSync(process.execPath, ["--input-type=commonjs", "-e", script], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(said).toMatch(/[A-Za-z]/);
});
