import type { Scene } from "./scene.ts";

/** A change of one of the engine's files: `find` must be there exactly once. */
type Edit = { file: string; find: string; put: string };

/** A fault that someone could make, and the scene in which it shows. `twice`: the second opinion must catch it as well. */
export type Mutant = {
  name: string;
  edits: readonly Edit[];
  scenario: (scene: Scene) => Promise<void>;
  twice?: boolean;
};

/**
 * A source with the edit made. Throws unless it applies in exactly one place: a mutant that changes nothing would prove nothing.
 *
 * @example
 * const source = applied({ file: "a.ts", find: "<=", put: "<" }, "if (a <= b) return;");
 */
export function applied({ file, find, put }: Edit, source: string): string {
  const places = source.split(find).length - 1;
  if (places !== 1) throw new Error(`${file}: ${places} places instead of one for ${JSON.stringify(find)}`);
  return source.replace(find, () => put);
}
