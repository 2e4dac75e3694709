import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { httpReceiver, type HttpReceiver } from "@atlasqueue/harness";
import { startSystem, type Api, type System } from "./system.ts";

const folder = fileURLToPath(new URL("../../client/", import.meta.url));
const page = readFileSync(`${folder}flows.md`, "utf8");
const [setUp = "", ...recipes] = page.split(/^## /m);
const run = promisify(execFile);

let system: System;
let api: Api;
let receiver: HttpReceiver;
beforeAll(async () => {
  system = await startSystem();
  api = await system.startApi({ LOG_LEVEL: "warn" });
  await system.startWorker({ LOG_LEVEL: "silent" });
  receiver = await httpReceiver(() => ({ status: 200 }));
}, 120_000);
afterAll(async () => {
  await receiver.close();
  await system.stop();
});

const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))].map(([, block = ""]) =>
    block.replaceAll("http://127.0.0.1:8000", api.url).replaceAll("https://example.org/done", receiver.url),
  );
const recipe = (title: string) => recipes.find((text) => text.startsWith(`${title}\n`)) ?? "";

/** What a recipe's program printed, which is what its last comment says. */
async function said(title: string): Promise<string> {
  const own = blocks(recipe(title), "ts");
  expect(own).toHaveLength(1);
  const program = [...blocks(setUp, "ts"), ...own, own[0]?.includes("const worker =") ? "await worker.stop();" : ""];
  // In this folder the package can import itself by name.
  const { stdout } = await run(process.execPath, ["--input-type=module-typescript", "--eval", program.join("\n")], {
    cwd: folder,
    timeout: 60_000,
  });
  return stdout.trim();
}
const ofComment = (title: string) => /console\.log\(.*\/\/ (.*)\n/.exec(recipe(title))?.[1];

test("there are five recipes, and each link leads somewhere", () => {
  expect(recipes.map((text) => text.split("\n")[0])).toEqual([
    "Fan-out and fan-in",
    "Pipeline",
    "Completion callback",
    "Saga",
    "Human approval",
  ]);
  for (const [, target = ""] of page.matchAll(/\]\(([^)#:]+)\)/g))
    expect(existsSync(folder + target), target).toBe(true);
});

test("fan-out and fan-in, with curl and with the client", async () => {
  const [submit = "", read = ""] = blocks(recipe("Fan-out and fan-in"), "sh");
  const batch = JSON.parse((await run("sh", ["-euc", submit])).stdout) as { jobs: { id: string }[] };
  const [north, south, sum] = batch.jobs.map(({ id }) => id);
  const job = JSON.parse((await run("sh", ["-euc", read.replace("JOB_ID", sum ?? "")])).stdout) as object;
  expect(job).toMatchObject({
    id: sum,
    status: "succeeded",
    parents: {
      north: { id: north, status: "succeeded", result: { sold: 3 } },
      south: { id: south, status: "succeeded", result: { sold: 4 } },
    },
    parent_counts: { succeeded: 2, dead: 0 },
    parents_complete: true,
  });
  expect(await said("Fan-out and fan-in")).toBe("14");
}, 90_000);

test("a completion callback", async () => {
  expect(await said("Completion callback")).toBe("{ status: 200 }");
  expect(receiver.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { flow: { id: expect.any(String) as unknown, succeeded: 1, dead: 1, cancelled: 0 }, batch: 4 },
  ]);
}, 90_000);

test.each(["Pipeline", "Saga", "Human approval"])(
  "%s",
  async (title) => {
    expect((await said(title)).replaceAll("'", '"')).toBe(ofComment(title));
  },
  90_000,
);
