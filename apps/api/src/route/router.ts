import type { Result } from "hono/router";
import { TrieRouter } from "hono/router/trie-router";

/**
 * A router that remembers what matches a path without parameters: most requests have one of a few, and a search makes
 * some thirty objects. hono's faster router refuses `:id` next to a fixed word.
 */
export class RememberingRouter<T> extends TrieRouter<T> {
  readonly #fixed = new Set<string>();
  readonly #known = new Map<string, Result<T>>();

  override add(method: string, path: string, handler: T): void {
    if (!/[:*]/.test(path)) this.#fixed.add(path);
    super.add(method, path, handler);
  }

  override match(method: string, path: string): Result<T> {
    if (!this.#fixed.has(path)) return super.match(method, path);
    const key = `${method} ${path}`;
    const known = this.#known.get(key) ?? super.match(method, path);
    this.#known.set(key, known);
    return known;
  }
}
