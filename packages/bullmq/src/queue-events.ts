import { setTimeout } from "node:timers/promises";
import type { Job as Stored } from "@atlasqueue/client";
import { Connected, type WithConnection } from "./connected.ts";
import { Job, missing } from "./jobs/job.ts";

export type QueueEventsOptions = WithConnection & { autorun?: boolean | undefined };

const pause_ms = 1_000;

/** What happens in a queue, in all its workers: "completed", "failed" and "progress". */
export class QueueEvents extends Connected {
  readonly name: string;
  readonly #closing = new AbortController();
  /** As JSON, by the ids of the jobs that ran at the last look. */
  #progress = new Map<string, string>();
  readonly #ready = Promise.withResolvers<void>();
  #running: Promise<unknown> | undefined;

  constructor(name: string, opts: QueueEventsOptions) {
    super("QueueEvents", opts, { events: "completed failed progress", taken: "autorun lastEventId blockingTimeout" });
    this.name = name;
    if (opts.autorun !== false) void this.run();
  }

  async run(): Promise<void> {
    await (this.#running ??= Promise.all([this.#repeat(() => this.#listen()), this.#repeat(() => this.#look())]));
  }
  /** Resolves once events are received. */
  override waitUntilReady = () => this.#ready.promise;
  override async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #repeat(act: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await act().catch((error: unknown) => {
        if (!signal.aborted) this.report(error);
      });
      await setTimeout(pause_ms, undefined, { signal }).catch(() => {});
    }
  }

  async #listen(): Promise<void> {
    const events = this.api.stats.events({ queues: [this.name] }, { signal: this.#closing.signal });
    for await (const { event, data } of events) {
      this.#ready.resolve();
      if (event !== "finished") continue;
      for (const { id, queue, status, finished_at } of data.items) {
        const stored = queue === this.name && status !== "cancelled" && (await this.api.get(id).catch(missing));
        if (!stored) continue;
        this.#progressed(stored);
        const { returnvalue, failedReason } = new Job(this.api, stored);
        if (status === "succeeded") this.emit("completed", { jobId: id, returnvalue, prev: "active" }, finished_at);
        else this.emit("failed", { jobId: id, failedReason, prev: "active" }, finished_at);
      }
    }
  }

  async #look(): Promise<void> {
    if (this.listenerCount("progress") === 0) return;
    const { items } = await this.api.page({ queue: this.name, status: "running", limit: 200 });
    for (const job of items) this.#progressed(job);
    this.#progress = new Map(items.map(({ id, progress }) => [id, JSON.stringify(progress)]));
  }
  #progressed({ id, progress, updated_at }: Stored): void {
    if (progress === null || JSON.stringify(progress) === this.#progress.get(id)) return;
    this.emit("progress", { jobId: id, data: progress }, updated_at);
  }
}
