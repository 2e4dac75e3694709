import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

type System = "debian" | "fedora" | "mac";
type Program = {
  /** How a person calls it. */
  what: string;
  names: readonly string[];
  /** Where it may be without being on PATH. */
  paths: readonly string[];
  package: Readonly<Record<System, string>>;
};

/** What the tests need besides Redis, which `start` needs too. */
export const programs = {
  chromium: {
    what: "Chromium or Chrome",
    names: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"],
    paths: ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"],
    package: { debian: "chromium", fedora: "chromium", mac: "--cask google-chrome" },
  },
  pgbouncer: {
    what: "PgBouncer",
    names: ["pgbouncer"],
    paths: ["/usr/sbin/pgbouncer"],
    package: { debian: "pgbouncer", fedora: "pgbouncer", mac: "pgbouncer" },
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
  const { names, paths } = programs[name];
  const script = names.map((each) => `command -v ${each}`).join(" || ");
  const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8" });
  return stdout?.trim() || paths.find((path) => existsSync(path));
}

/** The one command that installs them on this machine. */
export function installCommand(names: readonly ProgramName[], platform: NodeJS.Platform = process.platform): string {
  const packages = (system: System) => names.map((name) => programs[name].package[system]).join(" ");
  if (platform === "darwin") return `brew install ${packages("mac")}`;
  return existsSync("/etc/debian_version")
    ? `sudo apt-get install -y ${packages("debian")}`
    : `sudo dnf install -y ${packages("fedora")}`;
}
