/** A statement, as PostgreSQL gets it. `parameters` are the names of $1, $2 … */
export type ComposedStatement = { name: string; parameters: readonly string[]; text: string };

// Filled while the modules load and never changed: the list of what this program can send.
const statements: ComposedStatement[] = [];

/**
 * Name a statement that is put together from parts, or that writes, and its parameters in order. Returns the text. By its
 * name, tests stop a process at what it writes (`packages/system-tests/system/crash-points`). A test writes each one whole to `sql/<name>.sql`, to be read, explained and compared as PostgreSQL gets it. Call it while the module loads, once
 * for each variant.
 *
 * @example
 * const renew = composed("lease/extend", [...leaseParameters, "lease_seconds"], `WITH held AS (…) …`);
 */
export function composed(name: string, parameters: readonly string[], text: string): string {
  statements.push({ name, parameters, text });
  return text;
}

/** All that the loaded modules have named. */
export function composedStatements(): readonly ComposedStatement[] {
  return statements;
}
