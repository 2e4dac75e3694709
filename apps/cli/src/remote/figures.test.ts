import { spawn } from "node:child_process";
import { eventually, forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { cliSystem } from "../../test/run-cli.ts";
import { mainFile } from "../../test/run-start.ts";

const system = forFile(cliSystem);

test("a made-up day can be seeded, and is then looked at", { tags: ["slow"] }, async () => {
  const seeded = await system.run("seed", "--jobs", "300", "--dead", "20", "--queues", "9");
  expect(seeded).toMatchObject({ code: 0, stdout: "" });
  expect(seeded.stderr).toMatch(/300 of 300 jobs[\s\S]*done\n$/);
  const again = await system.run("seed", "--jobs", "10");
  expect(again.code).toBe(1);
  expect(again.stderr).toContain("Mix made-up ones with them?");

  await system.client.submit({ type: "a", queue: "unserved" });
  await eventually(async () => {
    const said = await system.run("overview");
    expect(said.stderr).toMatch(
      /^\d+ queues: \d+ jobs queued, the oldest for .*20 dead; 0 workers with 0 of 0 slots in use\n/,
    );
    expect(said.stdout).toMatch(/^error\tqueue_without_workers\t/m);
  });

  const day = await system.run("stats", "--window", "24h", "--queue", "mails");
  expect(day.stdout.trimEnd().split("\n")).toHaveLength(96);
  const json = JSON.parse((await system.run("stats", "--window", "30d", "--json")).stdout) as {
    total: { dead: number };
  };
  expect(json.total.dead).toBeGreaterThan(20);
  expect((await system.run("stats", "--window", "1y")).code).toBe(2);
});

test("events are followed as lines, until a signal ends it", async () => {
  const following = spawn(process.execPath, [mainFile, "events", "--queue", "followed", "--json"], {
    env: { ...process.env, ...system.env },
  });
  onTestFinished(() => void following.kill("SIGKILL"));
  let text = "";
  following.stdout.on("data", (chunk: Buffer) => (text += String(chunk)));
  await eventually(() => expect(text).toContain('"event":"counts"'));
  const { id } = await system.client.submit({ type: "a", queue: "followed" });
  await system.client.cancel(id);
  await eventually(() => expect(text).toContain(id));
  const ended = new Promise((resolve) => following.once("exit", resolve));
  following.kill("SIGTERM");
  expect(await ended).toBe(0);
});
