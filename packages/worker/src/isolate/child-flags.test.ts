import { expect, test } from "vitest";
import { childFlags } from "./child-flags.ts";

const kept = ["--enable-source-maps", "--import", "./sdk.js", "--max-old-space-size=64"];

test.each([
  ["-e", "startWorker()"],
  ["--eval", "startWorker()"],
  ["-p", "startWorker()"],
  ["-pe", "startWorker()"],
  ["--print", "startWorker()"],
  ["-e", "--import"],
  ["--eval=startWorker()"],
  ["--print=startWorker()"],
  ["--input-type=module", "-e", "startWorker()"],
  ["--input-type", "module", "-e", "startWorker()"],
])("a program given as a flag is not started again in each child: %s %s", (...flags) => {
  expect(childFlags([...kept, ...flags])).toEqual(kept);
  expect(childFlags([...flags, ...kept])).toEqual(kept);
});

test.each([
  ["--inspect"],
  ["--inspect=127.0.0.1:9229"],
  ["--inspect-brk"],
  ["--inspect-wait=0"],
  ["--inspect-port", "9229"],
  ["--inspect-publish-uid=http"],
])("a debugger's port is the worker's alone: %s %s", (...flags) => {
  expect(childFlags([...flags, ...kept])).toEqual(kept);
});
