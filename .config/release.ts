import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

// Publishes what is not on the registry yet. CONTRIBUTING.md says what comes first.
const { values } = parseArgs({ options: { "dry-run": { type: "boolean", default: false } } });
const dry = values["dry-run"];

type Manifest = { name: string; version: string; private?: boolean; repository?: { url?: string } };
const manifests = globSync("{packages,apps}/*/package.json").map(
  (file) => JSON.parse(readFileSync(file, "utf8")) as Manifest,
);
const published = manifests.filter((manifest) => !manifest.private);

/** Ends the release when the command fails. */
function run(...command: string[]): void {
  say(`$ ${command.join(" ")}`);
  const { status } = spawnSync(command[0] ?? "", command.slice(1), { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** What a person has to fix first. */
function missing(): string[] {
  const wrong: string[] = [];
  const nowhere = published.filter(({ repository }) => !repository?.url).map(({ name }) => name);
  if (nowhere.length > 0)
    wrong.push(
      `These say no \`repository\`: ${nowhere.join(", ")}. The provenance of a package names the repository it was built ` +
        "in, and npm compares the two. Set it once there is one:\n" +
        "  pnpm -r exec npm pkg set repository.type=git repository.url=git+https://HOST/OWNER/NAME.git",
    );
  const { stdout } = spawnSync("git", ["status", "--porcelain"], { encoding: "utf8" });
  if (stdout !== "") wrong.push("The working tree has changes that are not committed.");
  return wrong;
}

const wrong = missing();
for (const line of wrong) say(line);
if (wrong.length > 0 && !dry) process.exit(1);

say(`Packages: ${published.map(({ name, version }) => `${name} ${version}`).join(", ")}`);
run("pnpm", "build");
if (dry) {
  const filters = published.flatMap(({ name }) => ["--filter", name]);
  run("pnpm", "--recursive", ...filters, "publish", "--dry-run", "--no-git-checks", "--access", "public");
  say("Nothing was published.");
} else {
  run("pnpm", "test:packages");
  run("changeset", "publish");
  say("Push the tags: git push --follow-tags");
}
