// @module-tag nightly
import { execFileSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "@atlasqueue/contract";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "@atlasqueue/harness";
import { startSystem, type Api, type System } from "./system.ts";

// A base backup of the running server, put back after more has happened: apps/docs/pages/operate/backup.md says what comes of it.

/** What `pg_basebackup` does, by the same calls, as its version must be the server's. */
async function backUp({ sql, servers }: System): Promise<string> {
  const { dataDir } = servers.postgres;
  const backup = `${dataDir}-backup`;
  const connection = await sql.reserve();
  try {
    await connection`SELECT pg_backup_start('test', true)`;
    copy(dataDir, backup);
    const [stopped] = await connection<{ labelfile: string }[]>`SELECT labelfile FROM pg_backup_stop(false)`;
    // The log that was written meanwhile makes the copy whole.
    cpSync(join(dataDir, "pg_wal"), join(backup, "pg_wal"), { recursive: true, force: true });
    writeFileSync(join(backup, "backup_label"), stopped?.labelfile ?? "");
    // Who has it running is no part of the data.
    for (const file of ["postmaster.pid", "atlasqueue.owner"]) rmSync(join(backup, file), { force: true });
    execFileSync("chown", ["-R", "--reference", dataDir, backup]);
    return backup;
  } finally {
    connection.release();
  }
}

async function putBack({ servers: { postgres } }: System, backup: string): Promise<void> {
  await postgres.stop();
  rmSync(postgres.dataDir, { recursive: true });
  copy(backup, postgres.dataDir);
  await postgres.restart();
}

// With owners and modes: as root, PostgreSQL runs as another user. Files that go while it runs are no part of a backup.
const copy = (from: string, to: string) =>
  execFileSync("sh", ["-c", `cp -a -- "$1" "$2" 2>/dev/null || [ -f "$2/PG_VERSION" ]`, "sh", from, to]);

const settled = (api: Api, id: string, status: string) =>
  eventually(async () => expect(await api.read(id)).toMatchObject({ status }));

test.each(["as it went on", "emptied"])(
  "a database put back to an hour ago, with Redis %s: what was done since runs again, what came since is gone",
  async (redis) => {
    const system = await startSystem();
    onTestFinished(() => system.stop());
    let api = await system.startApi();
    let worker = await system.startWorker();
    const submit = async (key: string, job: object) => {
      const answer = await api.submit({ type: "demo.echo", payload: { key }, ...job }, key);
      return { status: answer.status, id: ((await answer.json()) as Job).id };
    };
    const comesDue = (id: string) =>
      system.sql`UPDATE atlasqueue.jobs SET run_at = now(), due_at = now() WHERE id = ${id}`;
    const done = (await submit("done", {})).id;
    await settled(api, done, "succeeded");
    const post = (path: string, body?: object) =>
      fetch(`${api.url}/v1/${path}`, {
        method: "POST",
        ...(body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
      });
    const dead = (await submit("dead", { type: "demo.fail", max_attempts: 1 })).id;
    await settled(api, dead, "dead");
    await post("queues/held/pause");
    const waiting = (await submit("waiting", { queue: "held" })).id;
    const due = (await submit("due", { delay_seconds: 3_600 })).id;
    // By a worker over HTTP, so that it ends when this test says so.
    const running = (await submit("running", { queue: "remote" })).id;
    const leased = await post("queues/remote/lease", { worker_id: "w", wait_seconds: 20, lease_seconds: 600 });
    const [{ lease_token } = { lease_token: "" }] = ((await leased.json()) as { jobs: { lease_token: string }[] }).jobs;

    const backup = await backUp(system);

    // What happens until the disk is lost.
    expect((await post(`jobs/${running}/ack`, { lease_token })).status).toBe(200);
    await comesDue(due);
    await settled(api, due, "succeeded");
    await post("queues/held/resume");
    expect(await (await post("dlq/purge", { ids: [dead] })).json()).toMatchObject({ changed: 1 });
    const later = (await submit("later", {})).id;
    const died = (await submit("died", { type: "demo.fail", max_attempts: 1 })).id;
    await settled(api, later, "succeeded");
    await settled(api, died, "dead");
    const pushed = (await submit("pushed", { queue: "nobodys" })).id;
    for (const one of [api.process, worker]) {
      one.kill("SIGTERM");
      await one.waitForExit();
    }

    await putBack(system, backup);
    // What time does.
    await comesDue(due);
    await system.sql`UPDATE atlasqueue.jobs SET locked_until = now() WHERE id = ${running}`;
    await system.sql`UPDATE atlasqueue.claims SET check_at = now()`;
    if (redis === "emptied") await system.redis.flushall();
    api = await system.startApi();
    worker = await system.startWorker({ WORKER_QUEUES: "default,remote" });

    // Done before: done. Under way: its lease runs out, which costs an attempt, and it runs once more.
    expect(await api.read(done)).toMatchObject({ status: "succeeded", attempts: 1 });
    await settled(api, running, "succeeded");
    expect(await api.read(running)).toMatchObject({ attempts: 2 });
    // Waiting, paused, dead: as it was, whatever became of it.
    await settled(api, due, "succeeded");
    expect(await api.read(due)).toMatchObject({ attempts: 1 });
    expect(await api.read(waiting)).toMatchObject({ status: "queued" });
    expect(await (await fetch(`${api.url}/v1/queues/held`)).json()).toMatchObject({ paused: true });
    expect(await api.read(dead)).toMatchObject({ status: "dead" });
    // What came since is gone, and so are its keys: sent again, it is done again.
    for (const id of [later, died, pushed]) expect((await fetch(`${api.url}/v1/jobs/${id}`)).status).toBe(404);
    expect(await submit("done", {})).toEqual({ status: 200, id: done });
    const again = await submit("later", {});
    expect(again).toMatchObject({ status: 201 });
    expect(again.id).not.toBe(later);
    await settled(api, again.id, "succeeded");
    // Redis is made to fit: no list names what is gone, and the dead are back in theirs.
    await eventually(async () => expect(await system.redis.lrange("atlasqueue:dlq", 0, -1)).toEqual([dead]), {
      timeout_ms: 60_000,
    });
    const doctor = await system.cli(["doctor", "--json"]);
    expect([await doctor.waitForExit(), doctor.lines]).toMatchObject([{ code: 0 }, expect.anything()]);
  },
  200_000,
);
