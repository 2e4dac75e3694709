import type { Result, Router } from "hono/router";
import { TrieRouter } from "hono/router/trie-router";

/**
 * Hono's router for routes like ours (its faster one takes no `:id` beside a word), which looks a path up piece by piece,
 * each time anew. What it finds for a path without parameters, such as the one that jobs are submitted to, is kept.
 *
 * @example
 * const app = new Hono({ router: new KnownPaths() });
 */
export class KnownPaths<T> implements Router<T> {
  readonly name = "KnownPaths";
  readonly #router = new TrieRouter<T>();
  /** Those of routes alone, and so bounded. */
  readonly #plain = new Set<string>();
  readonly #found = new Map<string, Result<T>>();

  add(method: string, path: string, handler: T): void {
    this.#router.add(method, path, handler);
    if (!/[:*?]/.test(path)) this.#plain.add(path);
    this.#found.clear();
  }

  match(method: string, path: string): Result<T> {
    const name = `${method} ${path}`;
    const known = this.#found.get(name);
    if (known) return known;
    const found = this.#router.match(method, path);
    if (this.#plain.has(path)) this.#found.set(name, found);
    return found;
  }
}
