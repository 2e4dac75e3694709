import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { migrateDatabase } from "@atlasqueue/core";
import { freePort, startPostgres } from "@atlasqueue/embedded";
import { eventually } from "@atlasqueue/harness";
import postgres from "postgres";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { installExample, type Project } from "./project.ts";
import { succeed, usersEnvironment } from "./run.ts";

// The example of the NestJS page as its own project, with the packed packages: compiled to CommonJS, tested by Jest.
let project: Project;
const path = dirname(process.execPath);
beforeAll(async () => {
  project = await installExample("nestjs", ["esbuild@0.28.2"]);
  await succeed("npm", ["run", "build"], { cwd: project.folder, path });
}, 600_000);
afterAll(() => (project as Project | undefined)?.remove());

test("Jest runs the application's test", async () => {
  const { stderr } = await succeed("npm", ["test"], { cwd: project.folder, path });
  expect(stderr).toMatch(/Tests: +1 passed/);
});

test("the application stores a job with its order, handles it, shows it in the dashboard and stops", async () => {
  const { folder } = project;
  const server = await startPostgres({ dataDir: join(folder, "data") });
  onTestFinished(() => server.stop());
  await migrateDatabase(server.url);
  const sql = postgres(server.url, { max: 1 });
  onTestFinished(() => sql.end());
  await sql`CREATE TABLE orders (id uuid PRIMARY KEY, email text NOT NULL)`;

  const port = await freePort();
  const env = { DATABASE_URL: server.url, PORT: String(port), ADMIN_SESSION: "secret" };
  const app = spawn("node", ["dist/main.js"], { cwd: folder, env: usersEnvironment({ env, path }), stdio: "ignore" });
  onTestFinished(() => void app.kill("SIGKILL"));
  const ask = (to: string, more: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}/${to}`, { ...more, headers: { cookie: "session=secret", ...more.headers } });
  await eventually(async () =>
    expect(await (await ask("health")).json()).toMatchObject({ details: { queue: { status: "up" } } }),
  );

  const headers = { "content-type": "application/json" };
  const placed = await ask("orders", { method: "POST", headers, body: JSON.stringify({ email: "ada@example.org" }) });
  const { order, job } = (await placed.json()) as { order: string; job: string };
  expect(await sql`SELECT id FROM orders`).toEqual([{ id: order }]);
  await eventually(async () =>
    expect(await (await ask(`admin/queues/v1/jobs/${job}`)).json()).toMatchObject({
      status: "succeeded",
      result: { sent_to: "ada@example.org", attempt: 1 },
    }),
  );
  expect(await (await ask("admin/queues/")).text()).toContain("<script");
  expect((await ask("admin/queues/", { headers: { cookie: "" } })).status).toBe(401);

  app.kill("SIGTERM");
  // Nest sends the signal to itself again, once it has stopped.
  await eventually(() => app.signalCode === "SIGTERM", { timeout_ms: 60_000, message: "the application stops" });
});

const all = ["atlasqueue", "atlasqueue/dashboard", "@atlasqueue/client", "@atlasqueue/core", "@atlasqueue/worker"];

test("an application of CommonJS loads the packages", async () => {
  const script = `for (const name of ${JSON.stringify(all)}) console.log(name, typeof Object.values(require(name))[0])`;
  const { stdout } = await succeed("node", ["--input-type=commonjs", "-e", script], { cwd: project.folder, path });
  expect(stdout.trim().split("\n")).toHaveLength(all.length);
});

const bundled = {
  client: `import { createClient } from "@atlasqueue/client";
    createClient({ url: "http://127.0.0.1:1" }).get("01a224c5-b466-7589-aa1c-8caec6258bd5").catch((error) => console.log(error.name));`,
  queue: `import { createQueue } from "@atlasqueue/core";
    createQueue({ databaseUrl: "postgres://127.0.0.1:1/none" }).close().then(() => console.log("closed"));`,
};

test.each(["cjs", "esm"])("esbuild makes %s of a program: the client inside, the others external", async (format) => {
  const run = async (name: keyof typeof bundled, folder: string, ...options: string[]) => {
    writeFileSync(join(project.folder, `${name}.js`), bundled[name]);
    const file = join(folder, `${name}.${format === "cjs" ? "cjs" : "mjs"}`);
    const args = ["esbuild", `${name}.js`, "--bundle", "--platform=node", `--format=${format}`, `--outfile=${file}`];
    await succeed("npx", [...args, ...options], { cwd: project.folder, path });
    return (await succeed("node", [file], { cwd: folder, path })).stdout;
  };
  const elsewhere = mkdtempSync(join(tmpdir(), "atlasqueue-bundle-"));
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  expect(await run("client", elsewhere)).toBe("NetworkError\n");
  expect(await run("queue", project.folder, "--external:@atlasqueue/*")).toBe("closed\n");
});
