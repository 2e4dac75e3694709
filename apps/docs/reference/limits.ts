import { limits } from "@atlasqueue/contract";
import { code, table } from "./table.ts";

const mebi = 1_048_576;

function shown(name: string, value: number): string {
  if (!/_(bytes|chars)_max$/.test(name) || value % 1_024 !== 0) return value.toLocaleString("en");
  const unit = name.includes("_bytes") ? "" : " characters";
  return value % mebi === 0 ? `${value / mebi} Mi${unit ? unit : "B"}` : `${value / 1_024} Ki${unit ? unit : "B"}`;
}

/** All limits of the API, under the names that they have in `@atlasqueue/contract`. */
export function limitTable(): string {
  return table(
    ["limit", "value"],
    Object.entries(limits)
      .map(([name, value]) => [code(name), shown(name, value)])
      .toSorted(),
  );
}
