import { expect, onTestFinished, test, vi } from "vitest";
import { oneFault, storms } from "./fortunes.ts";
import { life } from "./life.ts";

const first = Number(process.env["FATES_SEED"] ?? 1);
const count = Number(process.env["FATES"] ?? 200);

async function lives(fortuneOf: Parameters<typeof life>[1]): Promise<string> {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const bad: string[] = [];
  for (let seed = first; seed < first + count; seed += 1) {
    const { wrong, log } = await life(seed, fortuneOf);
    if (wrong.length > 0) bad.push(`seed ${seed}: ${wrong.join("; ")}`, ...(bad.length === 0 ? log : []));
  }
  return bad.join("\n");
}

test("one call in the time of a lease may meet anything, and no job loses an attempt or a handler", async () => {
  expect(await lives(oneFault)).toBe("");
});

test("in storms no handler runs on past its lease, and what calm between them leaves time for is done", async () => {
  expect(await lives(storms)).toBe("");
});

test("a worker that stops leaves nothing held, whatever one of its calls meets", async () => {
  expect(await lives((world) => oneFault(world, true))).toBe("");
});
