import { glob, readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { SettingError } from "@atlasqueue/core";
import { handlersOf, type Handler } from "@atlasqueue/worker";

const moduleEndings = /(?<!\.d|\.test)\.(ts|mts|js|mjs)$/;
const files_max = 1_000;

/**
 * The handlers that modules export: by any name, as the default, or in an array. A path is a file, a folder, including
 * its subfolders, or a pattern such as `src/**\/*.jobs.ts`. Throws `SettingError` naming the path when there is none.
 *
 * @example
 * const handlers = await loadHandlers(["./my-handlers.ts"]);
 */
export async function loadHandlers(paths: readonly string[]): Promise<Handler[]> {
  const loaded: Handler[] = [];
  for (const path of paths) {
    const found: Handler[] = [];
    for (const file of await modulesAt(resolve(path), path)) found.push(...(await handlersIn(file)));
    if (found.length === 0)
      throw new SettingError(`WORKER_HANDLERS: ${path} exports no handler; export what defineHandler(…) returns`);
    loaded.push(...found);
  }
  const types = loaded.map((handler) => handler.type);
  const twice = types.find((type, at) => types.indexOf(type) !== at);
  if (twice !== undefined)
    throw new SettingError(`WORKER_HANDLERS: two handlers for the type ${JSON.stringify(twice)}`);
  return loaded;
}

async function modulesAt(path: string, shown: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found && !found.isDirectory()) return [path];
  if (!found && /[*?[{]/.test(path)) return await modulesMatching(path, shown);
  if (!found) throw new SettingError(`WORKER_HANDLERS: there is no file or folder ${shown}`);
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && moduleEndings.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return atMost(files.filter((file) => !file.includes("/node_modules/")).sort(), shown);
}

async function modulesMatching(pattern: string, shown: string): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of glob(pattern, { exclude: (found) => found.name === "node_modules", withFileTypes: true }))
    if (entry.isFile() && moduleEndings.test(entry.name)) files.push(join(entry.parentPath, entry.name));
  if (files.length === 0) throw new SettingError(`WORKER_HANDLERS: no module matches ${shown}`);
  return atMost(files.sort(), shown);
}

function atMost(files: string[], shown: string): string[] {
  if (files.length <= files_max) return files;
  throw new SettingError(`WORKER_HANDLERS: ${shown} has ${files.length} modules, at most ${files_max} are loaded`);
}

async function handlersIn(file: string): Promise<Handler[]> {
  const url = pathToFileURL(file).href;
  let module: object;
  try {
    module = (await import(url)) as object;
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new SettingError(`WORKER_HANDLERS: ${file} cannot be loaded: ${why}`, { cause: error });
  }
  return handlersOf(module, url);
}
