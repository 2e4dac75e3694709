import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";

/** As far as these tests look into one. */
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec: Record<string, unknown>;
};
type Probe = { httpGet: { path: string; port: string } };
type Container = {
  args: string[];
  env: { name: string; value: string }[];
  envFrom?: { configMapRef: { name: string } }[];
  ports?: { name: string; containerPort: number }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: { preStop: { exec: { command: [string, string] } } };
  resources: Record<"requests" | "limits", Record<string, string>>;
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
};
export type PodSpec = {
  containers: [Container];
  securityContext: object;
  automountServiceAccountToken: boolean;
  enableServiceLinks?: boolean;
  terminationGracePeriodSeconds?: number;
  volumes: { name: string; secret?: { secretName: string; items: { key: string; path: string }[] } }[];
};

const kustomize = createRequire(import.meta.url).resolve("kustomize/run.js");
const overlays = fileURLToPath(new URL("../kubernetes/overlays", import.meta.url));

/** What `kubectl apply -k` would send for an overlay. */
export async function render(overlay: string): Promise<Manifest[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [kustomize, "build", `${overlays}/${overlay}`]);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

/** The pods that something makes; undefined for what makes none. */
export function podOf({ spec }: Manifest): PodSpec | undefined {
  return (spec?.["template"] as { spec: PodSpec } | undefined)?.spec;
}
