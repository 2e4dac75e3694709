import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateDatabase } from "@atlasqueue/core";
import { createDatabase } from "@atlasqueue/harness/servers";
import postgres from "postgres";
import { installAudit } from "../audit/install-audit.ts";
import { judge } from "../report/judge.ts";
import { rulesOf, secondOpinion } from "../second-opinion/second-opinion.ts";
import { mutate } from "./mutate.ts";
import type { Mutant } from "./mutant.ts";
import { openScene } from "./scene.ts";

/** Which invariants saw it, and which rules of the second opinion; for the engine as it is, that should be none. */
export type Caught = { name: string; by: string[]; again: string[]; error: string | undefined };

/** One scene may take so long; an engine that never ends it is caught by nothing. */
const scene_ms_max = 60_000;

/**
 * Plays a mutant's scene on a database of its own, under names of its own in Redis, and has it judged. With no edits, the engine is as it is.
 *
 * @example
 * const { by } = await play({ postgres: server.url, redis: redis.url }, template, mutant);
 */
export async function play(
  urls: { postgres: string; redis: string },
  template: string,
  { name, edits, scenario }: Mutant,
): Promise<Caught> {
  const folder = mkdtempSync(join(tmpdir(), "mutant-history-"));
  const database = await createDatabase(urls.postgres, template);
  const { core, remove } = await mutate(edits);
  const sql = postgres(database.url, { max: 2, onnotice: () => {} });
  try {
    const scene = openScene(core, { postgres: database.url, redis: urls.redis }, folder);
    let error: string | undefined;
    try {
      const late = AbortSignal.timeout(scene_ms_max);
      const over = new Promise<never>((_, reject) =>
        late.addEventListener("abort", () => reject(late.reason as Error)),
      );
      await Promise.race([scenario(scene), over]);
    } catch (thrown) {
      error = String(thrown);
    }
    const dead = await scene.deps.signal.deadLetters.page(0, 1_000);
    scene.history.invoke("quiet", {}).ok({});
    await scene.close();
    const { findings } = await judge(folder, sql, dead);
    const by = findings.filter(({ violations }) => violations > 0).map((finding) => finding.name);
    const again = rulesOf(await secondOpinion(folder, sql, join(folder, "operations.jsonl")));
    return { name, by, again, error };
  } finally {
    await sql.end({ timeout: 1 });
    remove();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A migrated database with the trigger in it, to be copied for each scene. */
export async function makeTemplate(adminUrl: string): Promise<string> {
  const { url, name } = await createDatabase(adminUrl);
  await migrateDatabase(url);
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await installAudit(sql);
  await sql.end();
  return name;
}
