/** The pages that quote figures, and the results that they quote, by their paths in the repository. */
export const quoted = {
  bench: {
    results: "apps/bench/RESULTS.md",
    pages: [
      "README.md",
      "apps/docs/pages/operate/sizing.md",
      "apps/docs/pages/operate/beyond-one-database.md",
      "apps/docs/pages/operate/many-cells.md",
      "apps/docs/pages/project/performance.md",
      "apps/docs/pages/compare/index.md",
    ],
  },
  faults: {
    results: "apps/faults/RESULTS.md",
    pages: ["packages/core/GUARANTEES.md", "apps/docs/pages/project/fault-testing.md"],
  },
};

/**
 * Pages whose figures may be stale, one line each: the page names no commit, or one that the page of results doesn't have
 * after the word "commit". A page of results leaves out that word where it mentions an earlier run. `read` returns the
 * text of a file.
 *
 * @example
 * for (const line of staleQuotes((file) => readFileSync(join(root, file), "utf8"))) console.error(line);
 */
export function staleQuotes(read: (file: string) => string): string[] {
  return Object.values(quoted).flatMap(({ results, pages }) => {
    const measured = commitsIn(read(results), /\bcommit\s+`([0-9a-f]{7,10})`/g);
    return pages.flatMap((page) => {
      const named = commitsIn(read(page));
      if (named.length === 0) return [`${page} quotes figures and names no commit; ${results} is of ${measured[0]}`];
      const stale = named.filter((commit) => !measured.includes(commit));
      return stale.map((commit) => `${page} quotes figures of ${commit}; ${results} is of ${measured[0]}`);
    });
  });
}

const commitsIn = (text: string, named = /`([0-9a-f]{7,10})`/g): string[] => [
  ...new Set([...text.matchAll(named)].map(([, commit = ""]) => commit)),
];
