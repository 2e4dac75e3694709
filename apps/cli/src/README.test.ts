import { execFile } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createDatabase, eventually, postgresUrl } from "@atlasqueue/harness";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dataFolder, mainFile, runStart, startEnv, succeeds, type Started } from "../test/run-start.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (page: string) => readFileSync(join(root, page), "utf8");
const commandsOf = (page: string) => [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, command = ""]) => command);
const tour = read("apps/docs/pages/start/tour.md");
const tourCommands = commandsOf(tour);

const folder = dataFolder();
let started: Started;
let database_url: string;
let removeDatabase: () => Promise<void>;
beforeAll(async () => {
  const database = await createDatabase(postgresUrl());
  removeDatabase = database.drop;
  database_url = database.url;
  started = await runStart({ ...startEnv(folder.path), DATABASE_URL: database.url });
  writePnpm();
});
afterAll(async () => {
  await started.stop();
  await removeDatabase();
  folder.remove();
});

/** The command, and an `npx` that knows only what the root's script of that name runs. The tests must not need the network. */
function writePnpm(): void {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect(scripts.atlasqueue).toBe("node apps/cli/src/main.ts");
  const file = join(folder.path, "bin", "npx");
  mkdirSync(join(folder.path, "bin"));
  writeFileSync(
    file,
    `#!/bin/sh\n[ "$1 $2" = "-y pnpm" ] || exit 9\nshift 2\n[ "$1" = -s ] && shift\n[ "$1" = atlasqueue ] || exit 9\nshift\nexec '${process.execPath}' '${mainFile}' "$@"\n`,
  );
  chmodSync(file, 0o755);
  const command = join(folder.path, "bin", "atlasqueue");
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${mainFile}' "$@"\n`);
  chmodSync(command, 0o755);
}

type Said = { code: number; text: string };

/** Runs a block of a page as written, except for the names a reader replaces and the free ports. */
function paste(block = "exit 99", replaced: Record<string, string> = {}): Promise<Said> {
  let command = block.replaceAll("http://127.0.0.1:8000", started.api_url);
  for (const [name, value] of Object.entries(replaced)) {
    expect(command).toContain(name);
    command = command.replaceAll(name, value);
  }
  const own = { ATLASQUEUE_URL: started.api_url, DATA_DIR: folder.path, DATABASE_URL: database_url };
  const env = { ...process.env, PATH: `${folder.path}/bin:${process.env.PATH}`, ...own };
  return new Promise((resolve) =>
    execFile("sh", ["-c", command], { cwd: folder.path, env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, text: stdout + stderr }),
    ),
  );
}

const statusOf = ({ text }: Said) => text.trim().split("\n").at(-1);
const jobIn = ({ text }: Said) => JSON.parse(text.trim().split("\n")[0] ?? "") as { id: string };

test("the README's commands do what it says", async () => {
  const commands = commandsOf(read("README.md"));
  expect(commands).toHaveLength(2);
  const [submit, fail = ""] = commands;

  const submitted = await paste(submit);
  expect(statusOf(submitted)).toBe("201");
  const { id } = jobIn(submitted);
  await succeeds(started, id);
  const again = await paste(submit);
  expect([statusOf(again), jobIn(again).id]).toEqual(["200", id]);

  const died = await paste(fail);
  expect(died.text).toContain('"status": "dead"');
  const dead_id = /"id": "([^"]+)"/.exec(died.text)?.[1] ?? "no id";
  // The list of dead letters has a line for it.
  expect(died.text).toMatch(RegExp(`^${dead_id}\\t`, "m"));
});

test("the tour's commands do what it says", async () => {
  expect(tourCommands).toHaveLength(13);
  const [submit, poll, mismatch, fail, list, inRedis, file, stream, flow, show] = tourCommands;
  const [schedule, limit, look] = tourCommands.slice(10);

  const submitted = await paste(submit);
  expect(statusOf(submitted)).toBe("201");
  const { id } = jobIn(submitted);

  await succeeds(started, id);
  const polled = await paste(poll, { JOB_ID: id });
  expect(JSON.parse(polled.text)).toMatchObject({ id, status: "succeeded", result: { invoice: 7 } });

  const again = await paste(submit);
  expect([statusOf(again), jobIn(again).id]).toEqual(["200", id]);
  expect(statusOf(await paste(mismatch))).toBe("422");

  const told = /Follow the job by its `job_id`:\s([^.]*)\./.exec(tour)?.[1]?.match(/\w+/g) ?? [];
  expect(told).toHaveLength(5);
  await eventually(() => {
    const events = started.process.logs.filter(({ job_id }) => job_id === id).map(({ event }) => event);
    expect(events.filter((event) => event !== "idempotent_submission").sort()).toEqual(told.sort());
  });

  const died = await paste(fail);
  expect(died.code).toBe(1);
  expect(died.text).toContain('"status": "dead"');
  expect(died.text).toContain('"last_error": "Error: no such customer"');
  const dead_id = /"id": "([^"]+)"/.exec(died.text)?.[1] ?? "no id";
  expect((await paste(list)).text).toContain(dead_id);

  const port = /-p (\d+) LRANGE/.exec(started.banner.join("\n"))?.[1] ?? "";
  const own = { REDIS_PORT: port, ".atlasqueue/": `${folder.path}/` };
  await eventually(async () => expect((await paste(inRedis, own)).text).toContain(dead_id));

  const many = await paste(file);
  expect(many.code).toBe(1);
  expect(many.text).toMatch(/3 lines: 2 created, 0 already there, 1 refused\n {2}line 2: not JSON/);
  const repeated = await paste(file);
  expect(repeated.text).toContain("0 created, 2 already there, 1 refused");

  expect((await paste(stream)).text).toContain("1000 lines: 1000 created, 0 already there, 0 refused");

  const { flow_id } = JSON.parse((await paste(flow)).text) as { flow_id: string };
  await eventually(async () => {
    const shown = await paste(show, { FLOW_ID: flow_id });
    expect([shown.code, shown.text.match(/\tsucceeded\t/g)?.length]).toEqual([0, 3]);
  });

  const scheduled = await paste(schedule);
  expect([scheduled.code, scheduled.text]).toEqual([0, expect.stringContaining("report")]);
  const limited = await paste(limit);
  expect([limited.code, limited.text]).toEqual([0, expect.stringContaining("7")]);
  const looked = await paste(look);
  expect(looked.text).toContain(dead_id);
  expect(looked.text).toContain("✓");
});

test("the banner's line for the dead letters is the tour's", () => {
  const line = started.banner
    .find((said) => said.startsWith("Dead jobs:"))
    ?.replace("Dead jobs:", "")
    .trim();
  expect(
    line
      ?.replace(" valkey", " redis")
      .replace(`${folder.path}/`, ".atlasqueue/")
      .replace(/-p \d+/, "-p REDIS_PORT"),
  ).toBe(tourCommands[5]?.trim());
});

const pages = ["*.md", "apps/*/*.md", "packages/*/*.md", "packages/*/decisions/*.md", "packages/deploy/*/*.md"];

test.each(globSync(pages, { cwd: root, exclude: (name) => name.endsWith("node_modules") }))(
  "every link in %s leads somewhere",
  (page) => {
    const text = read(page).replaceAll(/^```.*?^```$/gms, "");
    for (const [, target = "", section] of text.matchAll(/\]\(([^)#:\s]*)(?:#([^)]*))?\)/g)) {
      const file = target === "" ? page : join(dirname(page), target);
      expect(existsSync(join(root, file)), target).toBe(true);
      if (section === undefined) continue;
      const headings = [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
        title
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
          .replaceAll(" ", "-"),
      );
      expect(headings, `${target}#${section}`).toContain(section);
    }
  },
);
