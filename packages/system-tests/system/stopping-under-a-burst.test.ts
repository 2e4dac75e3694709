// @module-tag slow
import { forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { startSystem } from "./system.ts";

const system = forFile(startSystem);

/** Each on a connection of its own, all at once. */
const calls = 200;

test.each(["1", "2"])("an API of %s processes answers all callers before it stops", async (processes) => {
  const api = await system.startApi({ API_PROCESSES: processes });
  const outcomes = Array.from({ length: calls }, (_, at) =>
    fetch(`${api.url}/v1/jobs?limit=5&queue=q${at}`, { headers: { connection: "close" } }).then(
      ({ status }) => status,
      (error: unknown) => String((error as Error).cause ?? error),
    ),
  );
  // What has begun is the sign that the others are on their way.
  await Promise.race(outcomes);
  api.process.kill("SIGTERM");
  expect(await api.process.waitForExit()).toMatchObject({ code: 0 });
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set([200]));
});
