// @module-tag nightly
import { redisUrl, spawnProcess, testDatabase, forFile } from "@atlasqueue/harness";
import { expect, test } from "vitest";
import { mainFile } from "../../test/run-start.ts";

const store = forFile(testDatabase);

const programs = ["api", "worker", "migrate", "doctor"];
const wrong: [string, (url: URL) => void, RegExp][] = [
  ["parameter", (url) => void (url.search = "?options=-c%20no_such_setting=1"), /no_such_setting/],
  ["value", (url) => void (url.search = "?options=-c%20work_mem=much"), /work_mem/],
  ["password", (url) => void (url.password = "wrong"), /password authentication failed/],
  ["database", (url) => void (url.pathname = "/none"), /"none" does not exist/],
  ["sslmode", (url) => void (url.search = "?sslmode=require"), /TLS/],
];

test.each(wrong.flatMap(([what, change, words]) => programs.map((program) => ({ what, change, words, program }))))(
  "$program with a $what that the server refuses ends in one line",
  async ({ change, words, program }) => {
    const url = new URL(store.url);
    change(url);
    const env = { DATABASE_URL: url.href, REDIS_URL: redisUrl(), API_PORT: "0", WORKER_METRICS_PORT: "0" };
    const ended = await spawnProcess(mainFile, { args: [program], env });
    expect((await ended.waitForExit(20_000)).code).toBe(1);
    const said = [...ended.errorLines, ...ended.lines].filter((line) => words.test(line));
    expect(said).toHaveLength(1);
    if (program !== "doctor") expect(ended.errorLines).toHaveLength(1);
  },
);
