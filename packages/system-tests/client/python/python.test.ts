import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandFile, findProgram, redisUrl, testDatabase, uniqueKeys } from "@atlasqueue/harness";
import { expect, onTestFinished, test } from "vitest";

const folder = fileURLToPath(new URL("../../../python", import.meta.url));

/** The Python that has what the package's tests need. */
function python(): string {
  const found = findProgram("python_tools");
  if (found === undefined)
    throw new Error("there is no such Python here; `pnpm test:slow` installs it, or prints how to install it");
  return found;
}

/** Runs a command in the Python package. Throws with all that it wrote if it fails. */
async function run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: "src", PYTHONDONTWRITEBYTECODE: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const output of [child.stdout, child.stderr])
    output.setEncoding("utf8").on("data", (text: string) => (said += text));
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0)
    throw new Error(`${[command, ...args].join(" ")} exited with ${String(code)}:\n${said.slice(-20_000)}`);
  return said;
}

const temporary = () => {
  const made = mkdtempSync(join(tmpdir(), "atlasqueue-python-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
};

/** The API as `start_server` of the Python package starts it, over a database of its own. */
async function apiEnv(): Promise<Record<string, string>> {
  const { url, drop } = await testDatabase();
  onTestFinished(drop);
  const { jobsKey, dlqKey } = uniqueKeys();
  return {
    ATLASQUEUE_SERVER_COMMAND: `${process.execPath} ${commandFile} api`,
    DATABASE_URL: url,
    REDIS_URL: redisUrl(),
    JOB_QUEUE_KEY: jobsKey,
    DLQ_KEY: dlqKey,
    RETRY_BASE_DELAY_SECONDS: "0",
    RETRY_JITTER_MAX_SECONDS: "0",
    LOG_LEVEL: "error",
  };
}

/** These tests mostly wait for leases to end, so they run in parallel, with each other and with the rest. */
const waiting = ["tests/test_faults.py", "tests/test_processes.py"];

test(
  "the Python package's tests pass against the real API, and cover 90 % of its lines",
  { tags: ["slow"] },
  async () => {
    const COVERAGE_FILE = join(temporary(), "coverage");
    const rest = ["tests", ...waiting.map((file) => `--ignore=${file}`)];
    const parts = [...waiting.map((file) => [file]), rest].map(async (files) => {
      const env = { ...(await apiEnv()), COVERAGE_FILE };
      const said = await run(python(), ["-m", "coverage", "run", "-m", "pytest", "-q", ...files], env);
      expect(said).not.toMatch(/\d+ skipped/);
      return said.trim().split("\n").at(-1);
    });
    const passed = await Promise.all(parts);
    await run(python(), ["-m", "coverage", "combine"], { COVERAGE_FILE });
    const report = await run(python(), ["-m", "coverage", "report", "--skip-covered", "--fail-under=90"], {
      COVERAGE_FILE,
    });
    process.stdout.write(`${passed.join("\n")}\n${/^TOTAL.*/m.exec(report)?.[0]}\n`);
  },
);

test.each(["celery", "django", "fastapi"])(
  "the recipe for %s runs as its page shows it",
  { tags: ["nightly"] },
  async (name) => {
    const recipe = fileURLToPath(new URL(`../../../../apps/docs/examples/${name}`, import.meta.url));
    const paths = { PYTHONPATH: `${folder}/src:${recipe}` };
    const plugin = ["-p", "no:cacheprovider", "-p", "atlasqueue.testing.plugin"];
    const env = { ...(await apiEnv()), ...paths };
    const said = await run(python(), ["-m", "pytest", "-q", ...plugin, "--rootdir", recipe, recipe], env);
    expect(said).toMatch(/\d+ passed/);
  },
);

test(
  "mypy and pyright accept the package, its examples and its tests, both in strict mode",
  { tags: ["nightly"] },
  async () => {
    const cache = temporary();
    await run(python(), ["-m", "mypy", "--strict", `--cache-dir=${cache}`, "src", "examples", "tests", "scripts"]);
    const pyright = fileURLToPath(new URL("../../node_modules/.bin/pyright", import.meta.url));
    await run(pyright, ["--pythonpath", python()]);
  },
);

test(
  "the wheel and the sdist install into a new environment, and the worker's command runs there",
  { tags: ["nightly"] },
  async () => {
    const dist = temporary();
    await run(python(), ["-m", "build", "--no-isolation", "--outdir", dist], {});
    const files = readdirSync(dist);
    expect(files).toHaveLength(2);
    for (const [at, file] of files.entries()) {
      const place = join(dist, `venv-${at}`);
      await run(python(), ["-m", "venv", "--system-site-packages", place]);
      const own = join(place, "bin", "python");
      // Outside of the source folder, and without it on the path.
      const alone = { PYTHONPATH: "" };
      await run(own, ["-m", "pip", "install", "--no-index", "--no-build-isolation", join(dist, file)], alone);
      const where = await run(own, ["-c", "import atlasqueue; print(atlasqueue.__file__)"], alone);
      expect(where).toContain(place);
      expect(readdirSync(join(where.trim(), ".."))).toContain("py.typed");
      expect(await run(join(place, "bin", "atlasqueue-worker"), ["--help"], alone)).toContain("--concurrency");
    }
    rmSync(join(folder, "src", "atlasqueue.egg-info"), { recursive: true, force: true });
  },
);
