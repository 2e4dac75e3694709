import { fileURLToPath } from "node:url";
import { createClient } from "@atlasqueue/client";
import { freePort } from "@atlasqueue/embedded";
import { spawnProcess } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { startSystem } from "../system.ts";

test("the worker runs a job, reports its health, and exits with 0 after SIGTERM", { tags: ["slow"] }, async () => {
  const { databaseUrl, apiUrl } = await startSystem();
  const port = await freePort();
  const file = fileURLToPath(new URL("main.ts", import.meta.url));
  const worker = await spawnProcess(file, { env: { DATABASE_URL: databaseUrl, PORT: String(port) } });
  const handle = await createClient({ url: apiUrl }).submit({ type: "greet", payload: { name: "Ada" } });
  expect(await handle.result({ timeoutMs: 60_000 })).toEqual({ text: "Hello, Ada" });
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  worker.kill("SIGTERM");
  expect(await worker.waitForExit()).toMatchObject({ code: 0 });
});
