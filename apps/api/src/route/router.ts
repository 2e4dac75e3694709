import type { Result } from "hono/router";
import { TrieRouter } from "hono/router/trie-router";

/**
 * A router that remembers what matches a path without parameters: most requests have one of a few, and a search makes
 * some thirty objects. hono's faster router refuses `:id` next to a fixed word.
 */
export class RememberingRouter<T> extends TrieRouter<T> {
  /** By path, then by method. */
  readonly #known = new Map<string, Map<string, Result<T>>>();

  override add(method: string, path: string, handler: T): void {
    if (!/[:*]/.test(path)) this.#known.set(path, new Map());
    super.add(method, path, handler);
  }

  override match(method: string, path: string): Result<T> {
    const of_path = this.#known.get(path);
    const known = of_path?.get(method);
    if (known) return known;
    const found = super.match(method, path);
    of_path?.set(method, found);
    return found;
  }
}
