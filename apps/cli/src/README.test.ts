import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { apiSettings } from "@atlasqueue/api";
import { createDatabase, eventually, postgresUrl } from "@atlasqueue/testing";
import { workerSettings } from "@atlasqueue/worker-app";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dataFolder, mainFile, runStart, startEnv, succeeds, type Started } from "../test/run-start.ts";
import { cliSettings } from "./config.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const tour = readme.slice(readme.indexOf("\n## Tour"), readme.indexOf("\n## ", readme.indexOf("\n## Tour") + 1));
const commands = [...tour.matchAll(/```sh\n(.*?)```/gs)].map(([, command = ""]) => command);

const folder = dataFolder();
let started: Started;
let removeDatabase: () => Promise<void>;
beforeAll(async () => {
  const database = await createDatabase(postgresUrl());
  removeDatabase = database.drop;
  started = await runStart({ ...startEnv(folder.path), DATABASE_URL: database.url });
  writePnpm();
});
afterAll(async () => {
  await started.stop();
  await removeDatabase();
  folder.remove();
});

/** An `npx` that knows only what the root's script `atlasqueue` runs. The tests must not need the network. */
function writePnpm(): void {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect(scripts.atlasqueue).toBe("node apps/cli/src/main.ts");
  const file = join(folder.path, "bin", "npx");
  mkdirSync(join(folder.path, "bin"));
  writeFileSync(
    file,
    `#!/bin/sh\n[ "$1 $2 $3" = "-y pnpm atlasqueue" ] || exit 9\nshift 3\nexec '${process.execPath}' '${mainFile}' "$@"\n`,
  );
  chmodSync(file, 0o755);
}

type Said = { code: number; text: string };

/** Runs a block of the README as written, except for the names a reader replaces and the free ports. */
function paste(at: number, replaced: Record<string, string> = {}): Promise<Said> {
  let command = (commands[at] ?? "exit 99").replaceAll("http://127.0.0.1:8000", started.api_url);
  for (const [name, value] of Object.entries(replaced)) {
    expect(command).toContain(name);
    command = command.replaceAll(name, value);
  }
  const env = { ...process.env, PATH: `${folder.path}/bin:${process.env.PATH}`, ATLASQUEUE_URL: started.api_url };
  return new Promise((resolve) =>
    execFile("sh", ["-c", command], { cwd: folder.path, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, text: stdout + stderr }),
    ),
  );
}

test("the tour's commands do what the README says", async () => {
  expect(commands).toHaveLength(12);

  const submitted = await paste(0);
  const [body = "", status] = submitted.text.trim().split("\n");
  expect(status).toBe("201");
  const { id } = JSON.parse(body) as { id: string };

  await succeeds(started, id);
  const polled = await paste(1, { JOB_ID: id });
  expect(JSON.parse(polled.text)).toMatchObject({ id, status: "succeeded", result: { order: 17 } });

  const again = await paste(2);
  expect(again.text).toMatch(/\n200\n$/);
  expect(again.text).toContain(id);
  expect((await paste(3)).text).toMatch(/\n422\n$/);

  const told = /Follow the job by its `job_id`:\s([^.]*)\./.exec(tour)?.[1]?.match(/\w+/g) ?? [];
  expect(told).toHaveLength(5);
  await eventually(() => {
    const events = started.process.logs.filter(({ job_id }) => job_id === id).map(({ event }) => event);
    expect(events.filter((event) => event !== "idempotent_submission").sort()).toEqual(told.sort());
  });

  const died = await paste(4);
  expect(died.code).toBe(1);
  expect(died.text).toContain('"status": "dead"');
  expect(died.text).toContain('"last_error": "Error: no such customer"');
  const dead_id = /"id": "([^"]+)"/.exec(died.text)?.[1];

  const port = /-p (\d+) LRANGE/.exec(started.banner.join("\n"))?.[1] ?? "";
  const own = { REDIS_PORT: port, ".atlasqueue/": `${folder.path}/` };
  await eventually(async () => expect((await paste(5, own)).text.trim()).toBe(dead_id));

  const many = await paste(6);
  expect(many.code).toBe(1);
  expect(many.text).toMatch(/3 lines: 2 created, 0 already there, 1 refused\n {2}line 2: not JSON/);
  const repeated = await paste(7);
  expect(repeated.text).toContain("0 created, 2 already there, 1 refused");

  expect((await paste(8)).text).toContain("1000 lines: 1000 created, 0 already there, 0 refused");

  const flow = JSON.parse((await paste(9)).text) as { flow_id: string };
  await eventually(async () => {
    const shown = await paste(10, { FLOW_ID: flow.flow_id });
    expect([shown.code, shown.text.match(/\tsucceeded\t/g)?.length]).toEqual([0, 3]);
  });

  expect(JSON.parse((await paste(11)).text)).toMatchObject({ openapi: "3.1.1" });
});

test("the banner's line for the dead letters is the README's", () => {
  const line = started.banner
    .find((said) => said.startsWith("Dead jobs:"))
    ?.replace("Dead jobs:", "")
    .trim();
  expect(
    line
      ?.replace(" valkey", " redis")
      .replace(`${folder.path}/`, ".atlasqueue/")
      .replace(/-p \d+/, "-p REDIS_PORT"),
  ).toBe(commands[5]?.trim());
});

test("the table of settings has every variable, and no other", () => {
  const table = readme.slice(readme.indexOf("\n## Settings"), readme.indexOf("\n## In pieces"));
  const told = [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = ""]) => cell.match(/\b[A-Z_]{4,}\b/g) ?? []);
  const read = [apiSettings, workerSettings, cliSettings].flatMap(({ shape }) => Object.keys(shape));
  const elsewhere = ["ATLASQUEUE_URL", "ATLASQUEUE_TOKEN"];
  expect(told.sort()).toEqual([...new Set(read)].filter((name) => !elsewhere.includes(name)).sort());
});

test.each(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "apps/cli/README.md", "packages/core/GUARANTEES.md"])(
  "every link in %s leads somewhere",
  (file) => {
    const text = readFileSync(join(root, file), "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g))
      expect(existsSync(join(root, file, "..", target)), target).toBe(true);
  },
);
