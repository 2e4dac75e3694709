import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { loadHandlers } from "./load-handlers.ts";

const fixtures = fileURLToPath(new URL("../test/handlers", import.meta.url));

test("a folder yields every handler its modules export, and nothing that only looks like one", async () => {
  expect((await loadHandlers([fixtures])).map((handler) => handler.type).sort()).toEqual(["block", "shout"]);
});

test("a pattern yields the handlers of the modules that match it", async () => {
  const types = (await loadHandlers([`${fixtures}/**/my-*.ts`])).map((handler) => handler.type);
  expect(types.sort()).toEqual(["block", "shout"]);
});

test.each([
  [`${fixtures}/**/*.jobs.ts`, "WORKER_HANDLERS: no module matches"],
  ["./nowhere.ts", "WORKER_HANDLERS: there is no file or folder ./nowhere.ts"],
  [`${fixtures}/../../src/config.ts`, "exports no handler"],
  [`${fixtures}/Dockerfile.none`, "there is no file or folder"],
])("%s is refused with a line that says why", async (path, why) => {
  await expect(loadHandlers([path])).rejects.toThrow(why);
});

test("two handlers for one type are refused", async () => {
  const file = `${fixtures}/my-handlers.ts`;
  await expect(loadHandlers([file, file])).rejects.toThrow('two handlers for the type "shout"');
});
