import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually } from "@atlasqueue/harness";
import postgres from "postgres";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { root } from "./examples.ts";
import { createProject, names, nodes, typescripts, type Project } from "./project.ts";
import { succeed, usersEnvironment } from "./run.ts";
import { jobs, npxStart } from "./system.ts";

// What `pnpm publish` would send, installed by npm outside this repository. `pnpm build` has run.
let project: Project;
beforeAll(async () => {
  project = await createProject();
}, 600_000);
// Not there when it could not be made.
afterAll(() => (project as Project | undefined)?.remove());

type Manifest = Record<string, unknown> & {
  dependencies?: Record<string, string>;
  publishConfig: { access: string; provenance: boolean };
  keywords: string[];
};
const installed = (name: string, file: string) => join(project.folder, "node_modules", name, file);
const manifest = (name: string) => JSON.parse(readFileSync(installed(name, "package.json"), "utf8")) as Manifest;

test("the parts of every package have the same version", () => {
  const { version } = manifest("atlasqueue");
  for (const name of names) {
    const { dependencies = {}, ...own } = manifest(name);
    expect(own, name).toMatchObject({ version, license: "MIT", engines: { node: expect.any(String) as string } });
    expect(own.publishConfig, name).toMatchObject({ access: "public", provenance: true });
    expect(own.keywords.length, name).toBeGreaterThan(2);
    for (const file of ["README.md", "LICENSE", "dist/index.d.ts"])
      expect(existsSync(installed(name, file)), `${name}/${file}`).toBe(true);
    for (const [dependency, range] of Object.entries(dependencies))
      expect(range, dependency).toMatch(names.includes(dependency) ? RegExp(`^${String(version)}$`) : /^[\^\d]/);
  }
});

test("migrations, the fixed driver and the dashboard are in the packages that need them, and no tests or sources", () => {
  const shipped = readdirSync(installed("@atlasqueue/core", "dist/drizzle")).filter((file) => file.endsWith(".sql"));
  expect(shipped).toEqual(readdirSync(join(root, "drizzle")).filter((file) => file.endsWith(".sql")));
  for (const [name, module] of [
    ["@atlasqueue/core", "database"],
    ["@atlasqueue/embedded", "postgres"],
  ] as const) {
    expect(readFileSync(installed(name, `dist/${module}/driver.js`), "utf8")).toContain("../driver/src/index.js");
    expect(readFileSync(installed(name, "dist/driver/src/connection.js"), "utf8")).toContain("notBefore");
  }
  for (const file of ["index.html", "index.html.br", "index.html.gz"])
    for (const app of ["dashboard", "docs"])
      expect(existsSync(installed("@atlasqueue/api", `dist/${app}-dist/${file}`)), `${app} ${file}`).toBe(true);
  for (const name of names) {
    const files = readdirSync(installed(name, "."), { recursive: true, encoding: "utf8" });
    expect(files.filter((file) => /\.test\.|^src|[^d]\.ts$|tsbuildinfo/.test(file))).toEqual([]);
  }
});

const compile = (version: string, config: string, ...options: string[]) =>
  succeed(
    process.execPath,
    [`node_modules/typescript-${version}/bin/tsc`, "-p", `tsconfig.${config}.json`, ...options],
    { cwd: project.folder },
  );

test.each(typescripts)("READMEs' examples compile with TypeScript %s, strict, as %s", async (version, resolution) => {
  await compile(version, resolution, "--noEmit");
});

test("the declarations programs submit with compile on their own", async () => {
  await compile("7", "declarations");
});

test.each(Object.entries(nodes))(
  "on Node %s the whole system and all examples run",
  { timeout: 600_000 },
  async (version, bin) => {
    const { folder } = project;
    const path = join(bin.startsWith("/") ? "" : folder, bin);
    expect((await succeed("node", ["--version"], { cwd: folder, path })).stdout).toMatch(RegExp(`^v${version}\\.`));
    cpSync(join(folder, "built/handlers.js"), join(folder, "handlers/email.js"));
    const data = join(folder, `data-${version}`);
    const system = await npxStart(folder, path, { DATA_DIR: data, WORKER_HANDLERS: "./handlers" });

    const env = {
      ATLASQUEUE_URL: system.api_url,
      DATABASE_URL: readFileSync(join(data, "postgres/atlasqueue.url"), "utf8").trim(),
      REDIS_URL: readFileSync(join(data, "redis/atlasqueue.url"), "utf8").trim(),
    };
    const options = { cwd: folder, path, env };
    const command = (...args: string[]) => succeed("npx", ["atlasqueue", ...args], options);
    const example = async (name: string, runtime: string[] = ["node"]) => {
      const file = join(folder, "built", `${name}.js`);
      const ported = join(folder, "built", `${name}.here.js`);
      writeFileSync(ported, readFileSync(file, "utf8").replaceAll("http://127.0.0.1:8000", system.api_url));
      return succeed(runtime[0] ?? "", [...runtime.slice(1), ported], options);
    };

    // The handler of the tour, in the worker of `start`.
    await command("submit", "email.send", '{"to":"ada@example.org"}', "--wait", "120");

    // The API's MCP server, which it loads only now.
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_queues", arguments: {} } };
    const spoken = await fetch(`${system.api_url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
    });
    expect(await spoken.json()).toMatchObject({
      result: { structuredContent: { queues: expect.any(Array) as unknown } },
    });

    // Without HTTP, and inside a transaction.
    const sql = postgres(env.DATABASE_URL, { max: 1, onnotice: () => {} });
    onTestFinished(() => sql.end());
    await sql`CREATE TABLE orders (id int, total_cents int)`;
    await example("queue");
    await example("traces");
    expect(await sql`SELECT id FROM orders`).toHaveLength(1);
    expect(await jobs(system, "type=invoice.write")).toHaveLength(1);

    // What the README begins with. The worker of `start` has the handler too: either may run the job.
    const own = spawn("node", ["built/own-worker.js"], { cwd: folder, env: usersEnvironment(options), stdio: "pipe" });
    onTestFinished(() => void own.kill("SIGKILL"));
    await example("own-app");
    expect(await sql`SELECT id FROM orders`).toHaveLength(2);
    await eventually(async () => {
      const [sent] = await jobs(system, "type=email.send&limit=1");
      expect(sent).toMatchObject({ status: "succeeded", payload: { to: "ada@example.org" } });
    });
    // Before it runs, it would not drain.
    await eventually(async () => {
      const { items } = (await (await fetch(`${system.api_url}/v1/workers`)).json()) as { items: { pid: number }[] };
      expect(items.map(({ pid }) => pid)).toContain(own.pid);
    });
    own.kill("SIGTERM");
    await eventually(() => own.exitCode === 0, { timeout_ms: 60_000, message: "the README's worker drains" });

    // Over HTTP, on Bun too.
    for (const runtime of version === "24" ? [["node"], [join(folder, "node_modules/bun/bin/bun")]] : [["node"]]) {
      const lines = (await example("client", runtime)).stdout.trim().split("\n");
      expect([lines[0], lines.at(-1)]).toEqual(["true", "2"]);
      expect((await example("remote", runtime)).stdout).toMatch(/order: 17/);
    }

    // Your own worker.
    await example("testing").then(({ stdout }) => expect(stdout).toContain("succeeded [ 'ada@example.org' ]"));
    await example("contract").then(({ stderr }) => expect(stderr).toContain("/max_attempts"));
    const worker = spawn("node", ["built/worker.js"], { cwd: folder, env: usersEnvironment(options), stdio: "pipe" });
    onTestFinished(() => void worker.kill("SIGKILL"));
    const said: string[] = [];
    createInterface({ input: worker.stdout }).on("line", (line) => said.push(line));
    await command("submit", "email.send", '{"to":"eve@example.org"}', "--queue", "mail", "--wait", "120");
    const [done] = await jobs(system, "queue=mail&type=email.send&limit=1");
    expect(done).toMatchObject({ status: "succeeded", result: { sent: "eve@example.org" } });
    worker.kill("SIGTERM");
    await eventually(() => worker.exitCode === 0, { timeout_ms: 60_000, message: "the worker drains" });
    expect(said.some((line) => line.includes('"handler_start"'))).toBe(true);

    expect(await system.stop()).toBe(0);
    expect(system.lines.some((line) => line.includes('"event":"worker_stopped"'))).toBe(true);
  },
);

test("the example with your own servers runs", async () => {
  const { stdout } = await succeed("node", ["built/embedded.js"], { cwd: project.folder });
  expect(stdout).toMatch(/^postgres:\/\/\S+ redis:\/\/\S+/);
});

test("npm's scripts read files where npm runs them, even when called from a folder below", async () => {
  writeFileSync(join(project.folder, "jobs.ndjson"), "not json\n");
  mkdirSync(join(project.folder, "below"));
  const from = { cwd: join(project.folder, "below"), env: { ATLASQUEUE_URL: "http://127.0.0.1:1" } };
  await expect(succeed("npm", ["run", "here"], from)).rejects.toThrow(/line 1: not JSON/);
});
