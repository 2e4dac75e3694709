import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { apiSettings, readApiConfig } from "@atlasqueue/api";
import { readWorkerConfig, workerSettings } from "@atlasqueue/worker-app";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { commands } from "./commands/table.ts";

// There may be no container engine where the tests run, so this reads the files: every path, command and variable they
// name must exist.
const root = fileURLToPath(new URL("../../..", import.meta.url));
const read = (file: string) => readFileSync(join(root, file), "utf8");
/** `${NAME:-default}` as compose fills it in when NAME is not set. */
const filled = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");

type Service = {
  profiles?: string[];
  image?: string;
  logging?: { driver: string; options: Record<string, string> };
  build?: { context: string; dockerfile: string };
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  container_name?: string;
  stop_grace_period?: string;
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  security_opt?: string[];
};
type Compose = { services: Record<string, Service>; volumes: Record<string, null> };
const { services, volumes } = parse(filled(read("docker-compose.yml")), { merge: true }) as Compose;
const service = (name: string): Service => services[name] ?? {};
const ours = ["migrate", "api", "worker"];
const servers = { DATABASE_URL: "postgres://u:p@h/d", REDIS_URL: "redis://h" };

test("the system is these services, and each waits for what it needs", () => {
  const profiles = Object.groupBy(Object.keys(services), (name) => service(name).profiles?.join() ?? "always");
  expect(profiles).toEqual({
    always: ["postgres", "redis", "migrate", "api", "worker"],
    pooler: ["pooler"],
    monitoring: ["prometheus", "grafana"],
  });
  for (const [name, { depends_on = {} }] of Object.entries(services)) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      expect(services, `${name} waits for ${other}`).toHaveProperty(other);
      if (condition === "service_healthy") expect(service(other).healthcheck?.test?.[0]).toBe("CMD");
    }
  }
  expect(service("migrate").depends_on).toEqual({ postgres: { condition: "service_healthy" } });
  for (const name of ["api", "worker"])
    expect(service(name).depends_on?.migrate).toEqual({ condition: "service_completed_successfully" });
});

test("postgres is 16 or newer, redis 7 or newer", () => {
  expect(Number(service("postgres").image?.replace("postgres:", ""))).toBeGreaterThanOrEqual(16);
  expect(Number(service("redis").image?.replace("redis:", ""))).toBeGreaterThanOrEqual(7);
  for (const volume of service("postgres").volumes ?? []) expect(volumes).toHaveProperty(volume.split(":")[0] ?? "");
});

test("every port is bound to 127.0.0.1, and any number of workers find one", () => {
  const ports = Object.values(services).flatMap((each) => each.ports ?? []);
  expect(ports.length).toBeGreaterThanOrEqual(4);
  for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d*:\d+$/);
  expect(service("worker").ports).toEqual(["127.0.0.1::9091"]);
  expect(service("worker").container_name).toBeUndefined();
});

test("every variable is one the program reads, with a value it accepts", () => {
  const known: Record<string, string[]> = {
    postgres: ["POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DB"],
    redis: ["REDISCLI_AUTH"],
    pooler: ["POSTGRES_PASSWORD"],
    grafana: ["GF_SECURITY_ADMIN_PASSWORD"],
    migrate: Object.keys(apiSettings.shape),
    api: Object.keys(apiSettings.shape),
    worker: Object.keys(workerSettings.shape),
  };
  for (const [name, { environment = {} }] of Object.entries(services))
    for (const variable of Object.keys(environment)) expect(known[name], `${name}: ${variable}`).toContain(variable);

  const image = dockerfile("apps/cli/Dockerfile").variables;
  const api = readApiConfig({ ...image, ...service("api").environment });
  expect(api.listen).toEqual({ host: "0.0.0.0", port: 8000 });
  // While no one has to identify themselves, only our names lead here.
  expect(api.auth).toBe("disabled");
  expect(api.allowed_hosts).toEqual({ names: ["api"], addresses: true });
  expect(api.shutdown_ms).toBeLessThan(seconds(service("api").stop_grace_period) * 1_000);
  const worker = readWorkerConfig({ ...image, ...service("worker").environment });
  expect(worker.metrics).toMatchObject({ host: "0.0.0.0", port: 9_091 });
  expect([worker.allowed_hosts, worker.demo_handlers]).toEqual([{ names: ["worker"], addresses: true }, false]);
  // Jobs of everyone the API lets in must run: with tokens there are tenants besides the default one.
  expect([worker.tenants, read("docker-compose.yml")]).toEqual(["*", expect.stringContaining("${WORKER_TENANTS:-*}")]);
  expect(worker.shutdown_ms).toBeLessThan(seconds(service("worker").stop_grace_period) * 1_000);

  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = service("postgres").environment ?? {};
  const url = `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`;
  for (const name of ours) expect(service(name).environment?.DATABASE_URL).toBe(url);
});

test("Redis asks for the password that the others send", () => {
  const { command = [], environment } = service("redis");
  const password = command[command.indexOf("--requirepass") + 1];
  expect(environment?.REDISCLI_AUTH).toBe(password);
  for (const name of ours) expect(service(name).environment?.REDIS_URL).toBe(`redis://:${password}@redis:6379`);
});

test("our programs may write nothing, and gain no privileges", () => {
  for (const name of Object.keys(services)) expect(service(name).security_opt).toEqual(["no-new-privileges:true"]);
  for (const name of ours) expect(service(name)).toMatchObject({ read_only: true, tmpfs: ["/tmp"], cap_drop: ["ALL"] });
});

test("what is mounted and copied for the other services exists", () => {
  const mounted = Object.values(services).flatMap(({ volumes: all = [] }) => all.filter((one) => one.startsWith("./")));
  expect(mounted.length).toBeGreaterThanOrEqual(5);
  for (const one of mounted) expect(existsSync(join(root, one.split(":")[0] ?? "")), one).toBe(true);
  for (const path of dockerfile("packages/deploy/pooler/Dockerfile").copied)
    expect(existsSync(join(root, path)), path).toBe(true);
});

test("no log grows without end", () => {
  for (const name of Object.keys(services))
    expect([name, service(name).logging?.options]).toEqual([name, { "max-size": "10m", "max-file": "5" }]);
});

test("one image has every role", () => {
  for (const name of ours) {
    expect(service(name)).toMatchObject({
      image: "atlasqueue",
      build: { context: ".", dockerfile: "apps/cli/Dockerfile" },
    });
    expect(commands).toHaveProperty(service(name).command?.[0] ?? "");
  }
});

test("the image has what its commands run, and runs as nobody special", () => {
  const app = "apps/cli";
  const text = read(`${app}/Dockerfile`);
  const { copied, lines, entry } = dockerfile(`${app}/Dockerfile`);
  expect(entry.slice(0, 3)).toEqual(["tini", "--", "node"]);
  for (const file of [entry.at(-1), "/app/apps/cli/healthy.sh"].map((path) => path?.replace("/app/", "") ?? "")) {
    expect(existsSync(join(root, file)), file).toBe(true);
    expect(copied.some((path) => file.startsWith(path))).toBe(true);
  }
  expect(copied).toEqual(expect.arrayContaining(["drizzle", "LICENSE"]));
  for (const folder of packagesOf(app)) {
    expect(copied).toContain(`${folder}/src`);
    expect(copied).toContain(`${folder}/package.json`);
  }
  for (const path of copied) expect(existsSync(join(root, path)), path).toBe(true);
  const bases = lines.filter((line) => line.startsWith("FROM ")).map((line) => line.split(" ")[1]);
  expect([bases.length > 1, new Set(bases)]).toEqual([true, new Set(["node:24-slim"])]);
  expect(lines.indexOf("USER node")).toBeGreaterThan(lines.findLastIndex((line) => line.startsWith("COPY ")));
  expect(text).toContain(`--frozen-lockfile --prod --filter "${manifest(app).name}..."`);
  const { packageManager } = JSON.parse(read("package.json")) as { packageManager: string };
  // With its hash, which corepack checks and npm does not take.
  const [version, hash] = packageManager.split("+sha512.");
  expect(text).toContain(`npm install --global ${version}\n`);
  expect(hash).toMatch(/^[0-9a-f]{128}$/);
  // The variables that the health check reads must be those that move the ports.
  const read_ports = [...read(`${app}/healthy.sh`).matchAll(/\$\{(\w+):-(\d+)\}/g)].map(([, name, port]) => [
    name,
    port,
  ]);
  expect(read_ports).toEqual([
    ["API_PORT", String(readApiConfig(servers).listen.port)],
    ["WORKER_METRICS_PORT", String(readWorkerConfig(servers).metrics.port)],
  ]);
  for (const [, port] of read_ports) expect(lines.find((line) => line.startsWith("EXPOSE "))).toContain(port);
});

test(".dockerignore lets through everything that is copied, for older builders too", () => {
  const lines = read(".dockerignore").split("\n");
  const patterns = lines.filter((line) => line !== "" && !line.startsWith("#"));
  // They leave out what is opened again under a folder that is shut.
  expect(patterns.filter((pattern) => pattern.startsWith("!"))).toEqual([]);
  const shut = patterns.map((pattern) => {
    const text = pattern
      .replaceAll(".", "\\.")
      .replace("**/", "(.*/)?")
      .replaceAll(/(?<!\.)\*/g, "[^/]*");
    return new RegExp(`^${text}(/|$)`);
  });
  const all = ["apps/cli/Dockerfile", "packages/deploy/pooler/Dockerfile"].flatMap((file) => dockerfile(file).copied);
  for (const path of all) expect([path, shut.some((pattern) => pattern.test(path))]).toEqual([path, false]);
});

function dockerfile(path: string) {
  const lines = read(path).replaceAll("\\\n", " ").split("\n");
  const copied = lines
    .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
    .flatMap((line) => line.split(" ").slice(1, -1));
  const of = (word: string) => lines.findLast((line) => line.startsWith(`${word} `))?.slice(word.length + 1);
  const entry = JSON.parse(of("ENTRYPOINT") ?? "[]") as string[];
  const variables = Object.fromEntries((of("ENV") ?? "").split(" ").map((each) => each.split("=", 2)));
  return { lines, copied, entry, variables: variables as Record<string, string> };
}

function manifest(folder: string): { name: string; dependencies: Record<string, string> } {
  return JSON.parse(read(`${folder}/package.json`)) as { name: string; dependencies: Record<string, string> };
}

/** The folders of an app and of the workspace packages it needs, directly or not. */
function packagesOf(folder: string, found: Set<string> = new Set()): Set<string> {
  found.add(folder);
  for (const [name, range] of Object.entries(manifest(folder).dependencies ?? {}))
    if (range.startsWith("workspace:")) packagesOf(folderOf(name.replace("@atlasqueue/", "")), found);
  return found;
}

function folderOf(name: string): string {
  return existsSync(join(root, "packages", name)) ? `packages/${name}` : `apps/${name.replace(/-app$/, "")}`;
}

function seconds(text = "10s"): number {
  return Number(text.replace(/s$/, ""));
}
