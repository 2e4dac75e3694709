import { httpReceiver, type Answer } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../../test/run-cli.ts";

type Counts = { matched: number; changed: number };

/** An API with this many dead letters that changes three per request. */
async function deadLetters(dead: number) {
  let left = dead;
  const api = await httpReceiver(({ body }): Answer => {
    const { dry_run } = JSON.parse(body) as { dry_run: boolean };
    const counts: Counts = { matched: left, changed: dry_run ? 0 : Math.min(left, 3) };
    left -= counts.changed;
    return { status: 200, body: JSON.stringify(counts) };
  });
  onTestFinished(() => api.close());
  const run = (...words: string[]) => runCli(["dlq", ...words], { ATLASQUEUE_URL: api.url });
  return { api, run, left: () => left };
}

test("dead letters are replayed in as many requests as it takes, without a question", async () => {
  const { run, left, api } = await deadLetters(7);
  const said = await run("replay", "--queue", "mail", "--type", "a");
  expect(said).toEqual({ code: 0, stdout: "", stderr: "7 of 7 dead letters are queued again\n" });
  expect(left()).toBe(0);
  expect(api.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
    { queue: "mail", type: "a", dry_run: true },
    ...Array.from({ length: 3 }, () => ({ queue: "mail", type: "a", dry_run: false })),
  ]);
});

test("a purge asks; where there is no one to ask, only --yes is a yes", async () => {
  const { run, left } = await deadLetters(4);
  const asked = await run("purge", "--all");
  expect(asked).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^4 dead letters would be deleted for good.*--yes/),
  });
  expect(await run("purge", "--all", "--dry-run")).toMatchObject({ code: 0, stderr: "4 would be deleted\n" });
  expect(left()).toBe(4);
  expect((await run("purge", "--all", "--yes", "--json")).stdout).toBe('{"matched":4,"changed":4}\n');
  expect(left()).toBe(0);
});

test.each([
  ["--all", {}],
  ["--queue=mail", { queue: "mail" }],
])("what dies after the count of %s is neither purged nor replayed", async (choice, traits) => {
  const died_before = "2030-01-31T12:00:00.000Z";
  const asked: unknown[] = [];
  const api = await httpReceiver(({ body }): Answer => {
    const wish = JSON.parse(body) as { dry_run: boolean };
    asked.push(wish);
    const counts = wish.dry_run ? { matched: 2, changed: 0, died_before } : { matched: 2, changed: 2 };
    return { status: 200, body: JSON.stringify(counts) };
  });
  onTestFinished(() => api.close());
  for (const verb of ["purge", "replay"]) {
    expect(await runCli(["dlq", verb, choice, "--yes"], { ATLASQUEUE_URL: api.url })).toMatchObject({ code: 0 });
    expect(asked.at(-1)).toEqual({ ...traits, died_before, dry_run: false });
  }
});

test.each([[[]], [["--all", "--queue", "mail"]], [["01a1fa98-8ceb-754b-9ac3-87aeef7be310", "--all"]]])(
  "choosing in no way or in two ways is wrong usage: %j",
  async (words) => {
    const { run, api } = await deadLetters(1);
    expect(await run("purge", ...words, "--yes")).toMatchObject({ code: 2, stderr: expect.stringContaining("--all") });
    expect(api.requests).toEqual([]);
  },
);
