import { CellUnavailableError, createCellMap } from "@atlasqueue/core/internal/cells";
import { createAuditor, placedAuditor, type Auditor } from "../audit/auditor.ts";
import type { CellOf } from "../route/deps.ts";
import type { OpenCell } from "./open-cell.ts";

/**
 * Which of several cells has a request's tenant, and what its handlers are given there. Acts are kept in the cell of the
 * tenant that they are about, wherever they are done.
 *
 * @example
 * const { cellOf, auditor } = placeIn([home, ...others]);
 */
export function placeIn(open: readonly [OpenCell, ...OpenCell[]]): { cellOf: CellOf; auditor: Auditor } {
  const [home] = open;
  const map = createCellMap({ database: home.core.database, names: open.map(({ name }) => name) });
  const byName = new Map(
    open.map(
      (one) => [one.name, { one, deps: { ...one.core, ...one.services }, auditor: createAuditor(one.core) }] as const,
    ),
  );
  const find = async (tenant: string) => {
    const name = await map.cellOf(tenant);
    const found = byName.get(name);
    if (!found?.one.isUsable()) throw new CellUnavailableError(`Cell ${name} is down; other cells may be up`);
    return found;
  };
  return {
    cellOf: async (tenant) => (await find(tenant)).deps,
    auditor: placedAuditor(home.core, async (tenant) => (await find(tenant)).auditor),
  };
}
