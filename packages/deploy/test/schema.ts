import type { Manifest } from "./manifests.ts";

type Checked = { validate(): void };
type Kinds = Record<string, new (data: unknown) => Checked>;

/** Whose schemas an API group is in: Kubernetes' own unless it is one of these. */
const packages: Record<string, string> = {
  "keda.sh": "@kubernetes-models/keda",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
};

/** Those that no package has. */
const ours: Record<string, string> = { "postgresql.cnpg.io": "./cloudnative-pg.ts" };

/**
 * What is wrong with a manifest by the schema of its kind. Fields that the schema does not have are wrong too: the
 * server would drop them, and with them what was meant.
 */
export async function faultsIn(manifest: Manifest): Promise<string[]> {
  const group = manifest.apiVersion.split("/")[0] ?? "";
  const from = ours[group] ?? `${packages[group] ?? "kubernetes-models"}/${manifest.apiVersion}`;
  const Kind = ((await import(from)) as Kinds)[manifest.kind];
  if (!Kind) return [`${from} has no ${manifest.kind}`];
  const check = () => faultOf(() => new Kind(manifest).validate());
  const fault = check();
  if (fault !== undefined) return [fault];
  return placesIn(manifest).flatMap(({ parent, key, path }) => {
    // No schema accepts this value, unless it knows nothing of the place.
    const value = parent[key];
    parent[key] = Symbol("none of its types");
    const known = check() !== undefined;
    parent[key] = value;
    return known ? [] : [`${path} is no field of ${manifest.kind}`];
  });
}

type Place = { parent: Record<string, unknown>; key: string; path: string };

function placesIn(value: unknown, under = ""): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const parent = value as Record<string, unknown>;
  return Object.keys(parent).flatMap((key) => {
    const path = `${under}/${key}`;
    return [{ parent, key, path }, ...placesIn(parent[key], path)];
  });
}

function faultOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
