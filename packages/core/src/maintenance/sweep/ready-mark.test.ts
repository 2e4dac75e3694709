import { recordEvents } from "@atlasqueue/testing";
import { expect, test } from "vitest";
import { createLogger } from "../../observe/log.ts";
import { memorySignal } from "../../signal/memory/signal.ts";
import { noSignal } from "../../signal/none.ts";
import { markReady, readyWasSeen } from "./ready-mark.ts";

const parts = {
  database: {} as never,
  observe: recordEvents().observe,
  logger: createLogger("silent", "test"),
};

test("a look for the mark doesn't keep anybody from leaving it", async () => {
  const deps = { ...parts, signal: memorySignal() };
  expect(await readyWasSeen(deps)).toBe(false);
  await markReady(deps);
  expect(await readyWasSeen(deps)).toBe(true);
});

test("without a signal there are no marks", async () => {
  const deps = { ...parts, signal: noSignal() };
  await markReady(deps);
  expect(await readyWasSeen(deps)).toBe(false);
});
