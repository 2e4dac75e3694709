import { mkdtempSync, rmSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, startRedis } from "@atlasqueue/embedded";
import { catalogue } from "./catalogue.ts";
import type { Mutant } from "./mutant.ts";
import { makeTemplate, play, type Caught } from "./run-mutants.ts";

type Tell = (line: string) => void;

/**
 * Every known-bad engine in its scene, after every scene with the engine as it is. Tells a line for each and the table at the end;
 * `ok` when all were caught, and nothing was found where nothing is wrong.
 */
export async function runMutants(tell: Tell, signal: AbortSignal): Promise<{ ok: boolean }> {
  const folder = mkdtempSync(join(tmpdir(), "mutants-"));
  // As root, PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const server = await startPostgres({ dataDir: join(folder, "postgres"), settings: { fsync: "off" } });
  const redis = await startRedis();
  try {
    const template = await makeTemplate(server.url);
    const scenes = [...new Set(catalogue.map(({ scenario }) => scenario))];
    const asItIs: Mutant[] = scenes.map((scenario) => ({
      name: `the engine as it is, ${scenario.name}`,
      edits: [],
      scenario,
    }));
    const run = async (mutants: readonly Mutant[]) => {
      const all: Caught[] = [];
      for (const mutant of mutants) {
        if (signal.aborted) break;
        const one = await play({ postgres: server.url, redis: redis.url }, template, mutant);
        const error = one.error === undefined ? "" : ` (${one.error})`;
        tell(`${one.name}: ${listOf(one.by)}; by the second opinion: ${listOf(one.again)}${error}`);
        all.push(one);
      }
      return all;
    };
    const clean = await run(asItIs);
    const caught = await run(catalogue);
    const found = caught.filter(({ by }) => by.length > 0).length;
    const twice = new Set(catalogue.filter((one) => one.twice).map(({ name }) => name));
    const again = caught.filter((one) => twice.has(one.name) && one.again.length > 0).length;
    tell(tableOf(caught));
    tell(`${found} of ${catalogue.length} caught, ${again} of ${twice.size} by the second opinion as well`);
    const blamed = clean.some((one) => one.by.length > 0 || one.again.length > 0 || one.error !== undefined);
    return { ok: found === catalogue.length && again === twice.size && !blamed };
  } finally {
    await Promise.all([server.stop(), redis.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

const tableOf = (caught: readonly Caught[]) =>
  [
    "| mutant | caught by | by the second opinion |",
    "| --- | --- | --- |",
    ...caught.map(({ name, by, again }) => `| ${name} | ${listOf(by)} | ${listOf(again)} |`),
  ].join("\n");

const listOf = (names: readonly string[]) => names.join(", ") || "nothing";
