import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "@atlasqueue/contract";
import { freePort } from "@atlasqueue/embedded";
import { expect } from "vitest";
import { eventually } from "@atlasqueue/harness";
import { ask, insist, type Answer } from "../harness/ask.ts";
import { ensureBaseImages } from "./base-images.ts";
import { composeOf, type Compose } from "./compose.ts";
import { startEngine, type Engine } from "./engine.ts";
import { ensurePlugins } from "./plugins.ts";

/** The whole system on an engine of its own, and what an operator's tour needs of it. */
export type Tour = {
  engine: Engine;
  compose: Compose;
  /** The same with other settings than the tour's own. */
  composeWith(settings: Readonly<Record<string, string>>): Compose;
  /** What is printed at the end. */
  figures: [what: string, is: string][];
  /** Looks up where the API is: containers that are made anew have another port. */
  findApi(): Promise<void>;
  api(): string;
  ask(method: string, path: string, body?: object): Promise<Answer>;
  create(job: object): Promise<string>;
  read(id: string): Promise<Job>;
  reaches(id: string, fields: object, timeout_ms?: number): Promise<void>;
  /** Until the API's /readyz answers with this. */
  ready(status: number, timeout_ms?: number): Promise<void>;
  /** The containers of a service, running or not, as the engine sees them. */
  states(service: string): Promise<string[]>;
  stop(): Promise<void>;
};

const minute_ms = 60_000;
const handler = `
import { hostname } from "node:os";
import { defineHandler } from "@atlasqueue/worker";
import { z } from "zod";
export const hello = defineHandler("tour.hello", z.object({ name: z.string() }), async ({ name }) => ({ said: "hello " + name }));
export const where = defineHandler("tour.where", z.looseObject({}), async (_, { progress, signal }) => {
  progress(0.5, hostname());
  await new Promise((resolve) => setTimeout(resolve, 4_000));
});
`;

/** The password of both servers. */
export const password = "tour";

/** An engine with the base images and the handlers in this folder; nothing is built or started yet. */
export async function startTour(folder: string): Promise<Tour> {
  mkdirSync(join(folder, "handlers"), { recursive: true });
  writeFileSync(join(folder, "handlers", "tour.ts"), handler);
  const engine = await startEngine(folder);
  await ensurePlugins(engine, folder);
  const stand_ins = await ensureBaseImages(engine, folder);
  const ports = await Promise.all(
    ["POSTGRES", "REDIS", "POOLER", "PROMETHEUS"].map(async (name) => [`${name}_PORT`, String(await freePort())]),
  );
  const settings = {
    API_PORT: "0",
    ...(Object.fromEntries(ports) as Record<string, string>),
    HANDLERS: join(folder, "handlers"),
    WORKER_HANDLERS: "/handlers",
    WORKER_DEMO_HANDLERS: "true",
    POSTGRES_PASSWORD: password,
    REDIS_PASSWORD: password,
  };
  const compose = composeOf(engine, folder, settings);
  let url = "";
  const read = (id: string) => insist<Job>(url, "GET", `/v1/jobs/${id}`);
  return {
    engine,
    compose,
    composeWith: (others) => composeOf(engine, folder, { ...settings, ...others }),
    figures: [["stand-ins for base images", stand_ins.join(", ") || "none"]],
    async findApi() {
      url = await compose.urlOf("api", 8_000);
    },
    api: () => url,
    ask: (method, path, body) => ask(url, method, path, body),
    create: async (job) => (await insist<Job>(url, "POST", "/v1/jobs", { body: job })).id,
    read,
    reaches: (id, fields, timeout_ms = 30_000) =>
      eventually(async () => expect(await read(id)).toMatchObject(fields), { timeout_ms }),
    ready: (status, timeout_ms = minute_ms) =>
      eventually(async () => expect((await ask(url, "GET", "/readyz")).status).toBe(status), { timeout_ms }),
    async states(service) {
      const format = "{{.State.Status}} {{with .State.Health}}{{.Status}}{{end}}";
      const ids = await compose.containersOf(service);
      return (await engine.docker(["inspect", "-f", format, ...ids])).trim().split("\n");
    },
    async stop() {
      await compose.tryCompose(["down", "--volumes", "--timeout", "5"]);
      await engine.stop();
    },
  };
}
