import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { applied, type Mutant } from "./mutant.ts";
import type { Core } from "./scene.ts";

const engine = fileURLToPath(new URL("../../../../packages/core", import.meta.url));

/**
 * The engine with a mutant's edits, in a folder of its own that `remove` deletes; without edits it is the engine as it is. Throws
 * when an edit does not apply.
 */
export async function mutate(edits: Mutant["edits"]): Promise<{ core: Core; remove(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "mutant-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    // As it lies in the repository: it looks for the migrations from there.
    const copy = join(folder, "packages", "core");
    cpSync(join(engine, "src"), join(copy, "src"), { recursive: true, filter: (path) => !path.endsWith(".test.ts") });
    cpSync(join(engine, "package.json"), join(copy, "package.json"));
    symlinkSync(join(engine, "node_modules"), join(copy, "node_modules"));
    for (const edit of edits) {
      const file = join(copy, "src", edit.file);
      writeFileSync(file, applied(edit, readFileSync(file, "utf8")));
    }
    const load = (file: string): Promise<object> => import(pathToFileURL(join(copy, "src", file)).href);
    const entries = ["index.ts", "internal.ts", "internal/http.ts", "internal/tools.ts", "internal/worker.ts"];
    return { core: Object.assign({}, ...(await Promise.all(entries.map(load)))) as Core, remove };
  } catch (error) {
    remove();
    throw error;
  }
}
