import { randomUUID } from "node:crypto";
import { forFile } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";
import { cliSystem, runCli, silentApi } from "../../test/run-cli.ts";

const system = forFile(cliSystem);

const lines = (text: string) => text.trimEnd().split("\n");
const cells = (text: string) => lines(text).map((line) => line.split("\t"));

/** A dead job, with its handler's last error. */
async function deadJob(queue: string, error: string): Promise<string> {
  const { id } = await system.client.submit({ type: "a", queue, max_attempts: 1 });
  const [held] = await system.client.lease(queue, { workerId: "w-1", waitSeconds: 10 });
  if (held) await system.client.nack(held, error);
  return id;
}

test("jobs are listed newest first: on a pipe as tab-separated lines, in JSON whole", async () => {
  const { id: first } = await system.client.submit({ type: "a", queue: "listed" });
  const second = await deadJob("listed-dead", "Odd: two\tlines\nof it");
  const rows = cells((await system.run("jobs", "list", "--queue", "listed-dead")).stdout);
  expect(rows).toEqual([[second, "a", "listed-dead", "dead", "1/1", expect.any(String), "Odd: two lines of it"]]);
  const all = JSON.parse((await system.run("jobs", "list", "--limit", "2", "--json")).stdout) as { items: unknown[] };
  expect(all.items).toMatchObject([
    { id: second, status: "dead" },
    { id: first, last_error: null },
  ]);
  const queued = await system.run("jobs", "list", "--status", "queued", "--type", "a");
  expect(cells(queued.stdout).map(([id]) => id)).toEqual([first]);
  const none = await system.run("jobs", "list", "--group", "nobody");
  expect(none).toEqual({ code: 0, stdout: "", stderr: "No matching jobs\n" });
});

test("a job is shown with its attempts and why it is not running", async () => {
  const id = await deadJob("shown", "TypeError: no address");
  const { stdout } = await system.run("jobs", "show", id.toUpperCase());
  expect(stdout).toMatch(/^status +dead$/m);
  expect(stdout).toMatch(/^last_error +TypeError: no address$/m);
  expect(cells(stdout).at(-1)).toEqual([
    "1",
    "failed",
    expect.any(String),
    expect.any(String),
    "w-1",
    "TypeError: no address",
  ]);
  const { stdout: json } = await system.run("jobs", "show", id, "--json");
  expect(JSON.parse(json)).toMatchObject({
    job: { id },
    attempts: [{ attempt: 1 }],
    reasons: [{ code: expect.any(String) }],
  });
});

test("jobs are cancelled and retried; a refused one is reported, and the others are done", async () => {
  const { id } = await system.client.submit({ type: "a", queue: "changed" });
  const nobody = randomUUID();
  const cancelled = await system.run("jobs", "cancel", nobody, id);
  expect(cancelled.code).toBe(1);
  expect(lines(cancelled.stderr)).toEqual([
    expect.stringContaining(`${nobody} is not cancelled: `),
    `${id} is cancelled`,
  ]);
  const again = await system.run("jobs", "cancel", id, "--json");
  expect(again.code).toBe(1);
  expect(JSON.parse(again.stdout)).toEqual({ items: [{ id, error: expect.stringContaining("409") }] });
  expect(await system.run("jobs", "retry", id)).toEqual({ code: 0, stdout: "", stderr: `${id} is queued again\n` });
  expect(await system.client.get(id)).toMatchObject({ status: "queued" });
});

test("a signal is sent to a job once, with any JSON", async () => {
  const { id } = await system.client.submit({ type: "a", queue: "signalled" });
  const send = (...more: string[]) => system.run("jobs", "signal", id, "approved", ...more);
  expect(await send("--payload", '{"by":"ada"}')).toEqual({
    code: 0,
    stdout: "",
    stderr: `approved was sent to ${id}\n`,
  });
  const again = await send("--json");
  expect([again.code, JSON.parse(again.stdout)]).toEqual([1, { outcome: "sent_before" }]);
  expect((await system.client.steps(id)).signals).toMatchObject([{ name: "approved", payload: { by: "ada" } }]);
  expect((await send("--payload", "ada")).code).toBe(2);
});

test("dead letters are listed, replayed and purged", async () => {
  const first = await deadJob("dead", "Odd: one");
  const second = await deadJob("dead", "Odd: two");
  const listed = cells((await system.run("dlq", "list", "--queue", "dead")).stdout);
  expect(listed.map(([id, , queue, , , reason, error]) => [id, queue, reason, error])).toEqual([
    [second, "dead", "attempts_exhausted", "Odd: two"],
    [first, "dead", "attempts_exhausted", "Odd: one"],
  ]);
  expect((await system.run("dlq", "replay", first)).stderr).toBe("1 of 1 dead letters are queued again\n");
  expect(await system.client.get(first)).toMatchObject({ status: "queued" });
  const purged = await system.run("dlq", "purge", "--queue", "dead", "--yes", "--json");
  expect(JSON.parse(purged.stdout)).toEqual({ matched: 1, changed: 1 });
  expect((await system.run("dlq", "list", "--queue", "dead")).stderr).toBe("No matching dead letters\n");
});

test("queues are paused, listed and resumed", async () => {
  await system.client.submit({ type: "a", queue: "mail" });
  expect(await system.run("queues", "pause", "mail", "other")).toMatchObject({
    code: 0,
    stderr: "mail is paused\nother is paused, and has no jobs\n",
  });
  const rows = cells((await system.run("queues", "list")).stdout);
  expect(rows.find(([name]) => name === "mail")).toEqual([
    "mail",
    "paused",
    "0",
    "0",
    "1",
    "0",
    "0",
    "0",
    "0",
    "0",
    expect.stringMatching(/^\d+s$/),
    "",
  ]);
  const resumed = await system.run("queues", "resume", "mail", "--json");
  expect(JSON.parse(resumed.stdout)).toMatchObject({ items: [{ queue: "mail", paused: false }] });
});

test("a queue's defaults are changed one by one, shown and removed", async () => {
  const defaults = async (...flags: string[]) => system.run("queues", "defaults", "named", ...flags);
  expect((await defaults()).stdout).toBe("named\tno defaults\n");
  const first = await defaults("--max-attempts", "3", "--backoff", "exponential:5:600", "--timeout", "60");
  expect(first.stdout).toBe("named\t3 attempts, exponential backoff of 5 s, at most 600 s, timeout 60 s\n");
  const second = await defaults("--backoff", "none", "--retention", "3600", "--result-ttl", "60", "--json");
  const kept = {
    max_attempts: 3,
    backoff: null,
    timeout_seconds: 60,
    retention_seconds: 3_600,
    result_ttl_seconds: 60,
  };
  expect(JSON.parse(second.stdout)).toEqual({ queue: "named", defaults: kept });
  expect((await system.client.submit({ type: "a", queue: "named" })).job).toMatchObject({ max_attempts: 3 });
});

test("a queue's limits are changed one by one, and shown", async () => {
  expect((await system.run("queues", "limits", "narrow")).stdout).toBe("narrow\tno limits\n");
  const first = await system.run("queues", "limits", "narrow", "--concurrency", "2", "--group-rate", "5/0.5");
  expect(first).toEqual({ code: 0, stdout: "narrow\t2 at once, 5 in 0.5 s of a group\n", stderr: "" });
  const second = await system.run("queues", "limits", "narrow", "--rate", "100/60", "--group-rate", "none");
  expect(second).toEqual({ code: 0, stdout: "narrow\t2 at once, 100 in 60 s\n", stderr: "" });
  const refused = await system.run("queues", "limits", "narrow", "--rate", "0/60");
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("/rate/limit must be an integer from 1") });
});

test("without a terminal, top looks once", async () => {
  await system.client.submit({ type: "a", queue: "watched" });
  const { code, stdout } = await system.run("top");
  expect(code).toBe(0);
  expect(lines(stdout)[0]).toMatch(/^\d\d:\d\d:\d\d {2}\d+ queues {2}\d+ queued/);
  expect(stdout).toMatch(/^watched +0 +0 +1 +0/m);
});

test("a token is required, taken from the environment, and never shown", async () => {
  const guarded = await silentApi({ ...system.env, AUTH: "required" });
  onTestFinished(() => guarded.stop());
  const env = { ...system.env, ATLASQUEUE_URL: guarded.url };
  const bare = await runCli(["queues", "list"], env);
  expect(bare).toMatchObject({ code: 1, stdout: "" });
  expect(bare.stderr).toMatch(/^401 .*; set ATLASQUEUE_TOKEN\n$/);
  const made = await runCli(["tokens", "create", "--name", "cli", "--scopes", "read"], env);
  const ATLASQUEUE_TOKEN = made.stdout.trim();
  expect((await runCli(["queues", "list"], { ...env, ATLASQUEUE_TOKEN })).code).toBe(0);
  const forbidden = await runCli(["queues", "pause", "mail"], { ...env, ATLASQUEUE_TOKEN });
  expect(forbidden).toMatchObject({ code: 1, stderr: expect.stringContaining("403") });
  expect(forbidden.stderr).not.toContain(ATLASQUEUE_TOKEN);
});

test.each([
  ["a user", (url: string) => url.replace("//", "//me:hidden@"), /^ATLASQUEUE_URL must be an http\(s\) URL/],
  ["a query", (url: string) => `${url}/?a=1`, /^ATLASQUEUE_URL must be .* without a user, a password or a query/],
  ["TLS where there is none", (url: string) => url.replace("http:", "https:"), /is its URL http:\/\/ and not https:/],
])("an ATLASQUEUE_URL with %s is reported in one line", async (_name, change, says) => {
  const said = await runCli(["queues", "list"], { ...system.env, ATLASQUEUE_URL: change(system.api.url) });
  expect([said.code, said.stdout]).toEqual([1, ""]);
  expect(lines(said.stderr)).toEqual([expect.stringMatching(says)]);
  expect(said.stderr).not.toMatch(/hidden|openssl|SSL routines/i);
});

test("an API that is away is one line", async () => {
  const { code, stdout, stderr } = await system.run("queues", "list", "--url", "http://127.0.0.1:65534");
  expect([code, stdout]).toEqual([1, ""]);
  expect(lines(stderr)).toEqual([
    expect.stringMatching(/^http:\/\/127\.0\.0\.1:65534 cannot be reached \(.*ECONNREFUSED.*\); is/),
  ]);
});

test.each([
  [["jobs", "show", "17"], "UUID"],
  [["jobs", "list", "--status", "odd"], "Allowed choices are scheduled"],
  [["jobs", "cancel"], "missing required argument"],
  [["queues", "pause", "a queue"], "characters out of A-Z"],
  [["queues", "list", "--url", "ftp://x"], "http://127.0.0.1:8000"],
  [["queues", "limits", "a", "--rate", "5"], "100/60"],
  [["queues", "defaults", "a", "--max-attempts", "26"], "from 1 to 25"],
  [["queues", "defaults", "a", "--backoff", "linear:5"], "exponential:5:600"],
  [["completion", "tcsh"], "zsh, bash, fish"],
])("wrong usage is exit code 2: %j", async (words, message) => {
  const { code, stderr } = await system.run(...words);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test("a shell completes commands, options and what an option takes", async () => {
  const complete = async (...words: string[]) =>
    lines((await system.run("complete", "--", ...words)).stdout).map((line) => line.split("\t")[0]);
  expect(await complete("do")).toContain("doctor");
  expect(await complete("jobs", "")).toEqual(expect.arrayContaining(["list", "show", "cancel", "retry"]));
  expect(await complete("jobs", "list", "--status", "")).toContain("dead");
  for (const shell of ["bash", "zsh", "fish"])
    expect((await system.run("completion", shell)).stdout).toContain("atlasqueue complete --");
});

test("whoami says what the API makes of the caller, in words and in JSON", async () => {
  const { stderr } = await system.run("whoami");
  expect(stderr).toMatch(/^the API checks no tokens .*; the API is version \d+\.\d+\.\d+\n$/);
  const { stdout } = await system.run("whoami", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ auth: "disabled", signed_in: true, tenant: "default" });
});

test("a dry run of a replay shows a patched payload with nothing that acts on a terminal", async () => {
  const payload = { text: "a\u009bb\u202ec\u2028d\u007f" };
  await system.client.submit({ type: "a", queue: "patched", max_attempts: 1, payload });
  const [held] = await system.client.lease("patched", { workerId: "w-1", waitSeconds: 10 });
  if (held) await system.client.nack(held, "no");
  const wish = ["--queue", "patched", "--patch", '{"n":1}', "--dry-run"];
  const { stdout } = await system.run("replays", "start", ...wish);
  expect(stdout).toBe(`${String.raw`{"text":"a\u009bb\u202ec\u2028d\u007f","n":1}`}\n`);
});

test("audit says who did what, newest first", async () => {
  await system.run("queues", "pause", "audited");
  await system.run("queues", "resume", "audited");
  const { stdout } = await system.run("audit", "--target", "audited");
  expect(cells(stdout).map(([, by, action, target]) => [by, action, target])).toEqual([
    ["anybody", "queue.resume", "audited"],
    ["anybody", "queue.pause", "audited"],
  ]);
  const json = JSON.parse((await system.run("audit", "--action", "queue.pause", "--limit", "1", "--json")).stdout) as {
    items: unknown[];
  };
  expect(json.items).toHaveLength(1);
  expect((await system.run("audit", "--target", "nothing")).stderr).toBe("No matching audit entries\n");
});

test("jobs that match are counted, asked about, and changed together; a stopped one is edited, a finished one deleted", async () => {
  const { id } = await system.client.submit({ type: "a", queue: "many", payload: { n: 1 } });
  await system.client.submit({ type: "a", queue: "many" });
  const looked = await system.run("jobs", "bulk", "cancel", "--queue", "many", "--dry-run");
  expect(looked.stderr).toBe("2 jobs would be cancelled\n");
  expect((await system.run("jobs", "bulk", "cancel", "--queue", "many")).code).toBe(1);
  expect((await system.run("jobs", "bulk", "cancel")).code).toBe(2);
  const done = await system.run("jobs", "bulk", "cancel", "--queue", "many", "--yes");
  expect(done.stderr).toBe("2 of 2 jobs are cancelled\n");
  const [operation = []] = cells((await system.run("operations", "list")).stdout);
  expect(operation.slice(1, 5)).toEqual(["cancel", "done", "2/2", "0"]);
  expect(cells((await system.run("operations", "get", String(operation[0]))).stdout)).toEqual([operation]);
  expect((await system.run("operations", "cancel", String(operation[0]))).code).toBe(1);
  expect((await system.run("jobs", "edit", id, "--patch", '{"n":2}')).stderr).toBe(`${id} is queued again\n`);
  expect((await system.client.get(id)).payload).toEqual({ n: 2 });
  await system.client.cancel(id);
  expect((await system.run("jobs", "edit", id)).code).toBe(2);
  expect((await system.run("jobs", "edit", id, "--payload", '{"n":null}')).stderr).toBe(`${id} is queued again\n`);
  expect((await system.client.get(id)).payload).toEqual({ n: null });
  expect((await system.run("jobs", "delete", id)).code).toBe(1);
  await system.client.cancel(id);
  expect((await system.run("jobs", "delete", id)).stderr).toBe(`${id} is deleted\n`);
});

test("a held group shows its job, and a schedule runs now", async () => {
  const { id } = await system.client.submit({ type: "a", queue: "grouped", group: "g" });
  await system.client.submit({ type: "a", queue: "grouped", group: "g" });
  const [row] = cells((await system.run("queues", "groups", "grouped")).stdout);
  expect(row).toEqual(["g", id, "queued", expect.any(String), "1"]);
  const [figures] = cells((await system.run("queues", "scaling", "grouped")).stdout);
  expect(figures).toEqual(["grouped", "1", "0", "1", expect.stringMatching(/^\d+ s$/), "0", "0"]);
  await system.client.schedules.put({ name: "nightly", cron: "0 0 1 1 *", job: { type: "a", queue: "ran" } });
  const made = (await system.run("schedules", "run", "nightly")).stdout.trim();
  expect(await system.client.get(made)).toMatchObject({ queue: "ran" });
});
