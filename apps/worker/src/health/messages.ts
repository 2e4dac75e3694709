import type { HostRule } from "@atlasqueue/program/hosts";

/** What `/readyz` answers: ready or not, and what was checked. */
export type Readiness = { ready: boolean; body: Record<string, unknown> };

export type HealthSettings = {
  host: string;
  port: number;
  /** How long an idle connection stays open; undefined: as long as Node keeps one. */
  keep_alive_ms?: number | undefined;
  /** Which names requests may use; undefined: any. */
  allowed_hosts?: HostRule | undefined;
  /** After how long without a turn of the event loop `/livez` is 503; undefined: never. */
  hang_ms?: number | undefined;
  beats: Int32Array<SharedArrayBuffer>;
};
export type HealthStarted = { kind: "started"; port: number; error?: { message: string; code: string | undefined } };
export type HealthRequest = { kind: "metrics" | "readiness"; id: number };
