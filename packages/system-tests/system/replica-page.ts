import { readFileSync } from "node:fs";
import postgres from "postgres";

/** What `psql` is given on a page about a logical replica, in order. Each returns the rows of its last statement. */
export function replicaSteps(page: string, urls: { OLD: string; NEW: string }) {
  const text = readFileSync(new URL(`../../../apps/docs/pages/operate/${page}.md`, import.meta.url), "utf8");
  const commands = [...text.matchAll(/psql "\$(OLD|NEW)"((?:[ \\\n]+-c "[^"]+")+)/g)];
  return commands.map(([, where, options = ""]) => async () => {
    const sql = postgres(where === "OLD" ? urls.OLD : urls.NEW, { max: 1, onnotice: () => {} });
    let rows: readonly object[] = [];
    for (const [, statement = ""] of options.matchAll(/-c "([^"]+)"/g))
      rows = await sql.unsafe(statement.replaceAll("$OLD", urls.OLD));
    await sql.end();
    return rows;
  });
}
