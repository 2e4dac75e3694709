import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

type System = "debian" | "fedora" | "mac";
type Program = {
  /** How a person calls it. */
  what: string;
  names: readonly string[];
  /** Where it may be without being on PATH. */
  paths: readonly string[];
  package: Readonly<Record<System, string>>;
  /** Where a program of that name may be too old: whether this one will do. */
  accepts?(path: string): boolean;
  /** Its path in the package of Debian's newest release, for the machines whose own release has none that will do. */
  newest?: string;
};

/** Whether a PgBouncer keeps prepared statements, which 1.21 brought; in the newest it is the default. */
export function keepsStatements(program: string): boolean {
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  const [, major = 0, minor = 0] = /PgBouncer (\d+)\.(\d+)/.exec(stdout) ?? [];
  return Number(major) > 1 || Number(minor) >= 21;
}

/** Whether a Python has what the tests of the Python package import. */
function hasPythonTools(program: string): boolean {
  const test =
    "import sys, httpx, pytest, pydantic, mypy, coverage, build, venv, ensurepip, fastapi, django, psycopg2; assert sys.version_info >= (3, 10)";
  return spawnSync(program, ["-c", test]).status === 0;
}
const pythonModules =
  "python3-httpx python3-pytest python3-pydantic python3-setuptools python3-wheel python3-build python3-coverage " +
  "python3-fastapi python3-django python3-psycopg2";

/** What the tests need besides Redis, which `start` needs too. */
export const programs = {
  // A page in the headless shell takes a third of the processor's time that it takes in the whole browser.
  chromium: {
    what: "Chromium or Chrome",
    names: [
      "chromium-headless-shell",
      "chromium",
      "chromium-browser",
      "google-chrome",
      "google-chrome-stable",
      "chrome",
    ],
    paths: ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"],
    package: { debian: "chromium-headless-shell", fedora: "chromium", mac: "--cask google-chrome" },
  },
  pgbouncer: {
    what: "PgBouncer",
    names: ["pgbouncer"],
    paths: ["/usr/sbin/pgbouncer"],
    package: { debian: "pgbouncer", fedora: "pgbouncer", mac: "pgbouncer" },
  },
  newer_pgbouncer: {
    what: "PgBouncer 1.21 or newer",
    names: ["pgbouncer"],
    paths: ["/usr/sbin/pgbouncer"],
    package: { debian: "pgbouncer", fedora: "pgbouncer", mac: "pgbouncer" },
    accepts: keepsStatements,
    newest: "usr/sbin/pgbouncer",
  },
  haproxy: {
    what: "HAProxy",
    names: ["haproxy"],
    paths: ["/usr/sbin/haproxy"],
    package: { debian: "haproxy", fedora: "haproxy", mac: "haproxy" },
  },
  nginx: {
    what: "nginx",
    names: ["nginx"],
    paths: ["/usr/sbin/nginx"],
    package: { debian: "nginx", fedora: "nginx", mac: "nginx" },
  },
  psql: {
    what: "psql",
    names: ["psql"],
    paths: [],
    package: { debian: "postgresql-client", fedora: "postgresql", mac: "libpq" },
  },
  openssl: {
    what: "OpenSSL",
    names: ["openssl"],
    paths: [],
    package: { debian: "openssl", fedora: "openssl", mac: "openssl" },
  },
  valkey: {
    what: "Valkey",
    names: ["valkey-server"],
    paths: [],
    package: { debian: "valkey-server", fedora: "valkey", mac: "valkey" },
    newest: "usr/bin/valkey-server",
  },
  docker: {
    what: "a container engine",
    names: ["dockerd"],
    paths: ["/usr/sbin/dockerd", "/usr/bin/dockerd"],
    package: { debian: "docker.io", fedora: "moby-engine", mac: "docker" },
  },
  debootstrap: {
    what: "debootstrap",
    names: ["debootstrap"],
    paths: ["/usr/sbin/debootstrap"],
    package: { debian: "debootstrap", fedora: "debootstrap", mac: "debootstrap" },
  },
  curl: { what: "curl", names: ["curl"], paths: [], package: { debian: "curl", fedora: "curl", mac: "curl" } },
  python3: {
    what: "Python 3",
    names: ["python3"],
    paths: [],
    package: { debian: "python3", fedora: "python3", mac: "python" },
  },
  // As the Python package's tests need it.
  python_tools: {
    what: "Python 3.10 or newer with httpx, pytest, pydantic, mypy, coverage, build, venv, FastAPI, Django and psycopg2",
    names: ["python3"],
    paths: ["/usr/bin/python3"],
    package: {
      debian: `${pythonModules} python3-venv mypy`,
      fedora: `${pythonModules} python3-mypy`,
      mac: "python",
    },
    accepts: hasPythonTools,
  },
  // All of a server's programs: Patroni calls nine of them.
  postgresql: {
    what: "PostgreSQL 16 or newer with pg_rewind and pg_basebackup",
    names: [],
    paths: [18, 17, 16].map((version) => `/usr/lib/postgresql/${version}/bin`),
    package: { debian: "postgresql-17", fedora: "postgresql-server", mac: "postgresql@17" },
    newest: "usr/lib/postgresql/17/bin",
  },
  patroni: {
    what: "Patroni",
    names: ["patroni"],
    paths: [],
    package: { debian: "patroni", fedora: "patroni", mac: "patroni" },
  },
  etcd: { what: "etcd", names: ["etcd"], paths: [], package: { debian: "etcd-server", fedora: "etcd", mac: "etcd" } },
  // With promtool.
  prometheus: {
    what: "Prometheus",
    names: ["prometheus"],
    paths: [],
    package: { debian: "prometheus", fedora: "golang-github-prometheus", mac: "prometheus" },
  },
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof programs;

/**
 * The path of a program on this machine; undefined when it is not installed.
 *
 * @example
 * const executablePath = findProgram("chromium");
 */
export function findProgram(name: ProgramName): string | undefined {
  const { names, paths, accepts = () => true }: Program = programs[name];
  const script = names.map((each) => `command -v ${each};`).join(" ");
  const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  const found = (stdout ?? "").split("\n").filter((path) => path !== "");
  const candidates = [...found, ...paths, `${unpackedFolder(name)}/command`];
  return candidates.find((path) => existsSync(path) && accepts(path));
}

/** Where a program of Debian's newest release is unpacked, for tests alone. */
export const unpackedFolder = (name: ProgramName) =>
  fileURLToPath(new URL(`../../../../node_modules/.cache/programs/${name}`, import.meta.url));

/** The one command that installs them on this machine. */
export function installCommand(names: readonly ProgramName[], platform: NodeJS.Platform = process.platform): string {
  const packages = (system: System) => names.map((name) => programs[name].package[system]).join(" ");
  if (platform === "darwin") return `brew install ${packages("mac")}`;
  return existsSync("/etc/debian_version")
    ? `sudo apt-get install -y ${packages("debian")}`
    : `sudo dnf install -y ${packages("fedora")}`;
}
