import type { Queue } from "@atlasqueue/core";
import { createWorker, type Handler, type Worker } from "@atlasqueue/worker";
import type {
  BeforeApplicationShutdown,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleInit,
} from "@nestjs/common";
import type { DiscoveryService, HttpAdapterHost } from "@nestjs/core";
import { handlersIn } from "./handler.ts";
import type { AtlasQueueOptions } from "./options.ts";

/**
 * Finds the handlers, runs them in a worker while the application runs, and serves the dashboard. `enableShutdownHooks()`
 * is what has Nest stop it at a signal.
 */
export class AtlasQueueRunner
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  /** The handlers of all providers and controllers, once the application is initialized. */
  handlers: readonly Handler[] = [];
  /** Undefined before the application runs, without handlers, and where `worker` is false. */
  worker: Worker | undefined;
  readonly #options: AtlasQueueOptions;
  readonly #queue: Queue;
  readonly #discovery: DiscoveryService;
  readonly #http: HttpAdapterHost;

  constructor(options: AtlasQueueOptions, queue: Queue, discovery: DiscoveryService, http: HttpAdapterHost) {
    this.#options = options;
    this.#queue = queue;
    this.#discovery = discovery;
    this.#http = http;
  }

  onModuleInit(): void {
    const { dashboard } = this.#options;
    // Before Nest's 404, and after the application's own routes. A program without HTTP has no adapter.
    const adapter = this.#http.httpAdapter as HttpAdapterHost["httpAdapter"] | undefined;
    if (dashboard) adapter?.use(dashboard.basePath, dashboard.node);
    const all = [...this.#discovery.getProviders(), ...this.#discovery.getControllers()];
    const instances = new Set(all.map(({ instance }) => instance as unknown));
    this.handlers = [...instances].flatMap((one) => (typeof one === "object" && one !== null ? handlersIn(one) : []));
    if ("queue" in this.#options) this.#options.queue.handle?.(...this.handlers);
  }

  onApplicationBootstrap(): void {
    const { worker, drainMs: _drainMs, dashboard: _dashboard, ...connection } = this.#options;
    if ("queue" in connection || worker === false || this.handlers.length === 0) return;
    const { databaseUrl, schema, redisUrl, redisTls, keys, preparedStatements, tenant, tracing } = connection;
    const given = { databaseUrl, schema, redisUrl, redisTls, tracing, ...(keys && { keys }) };
    const more = {
      ...(preparedStatements === undefined ? {} : { preparedStatements }),
      ...(tenant === undefined ? {} : { tenants: [tenant] }),
    };
    this.worker = createWorker({ ...given, ...more, ...worker, handlers: this.handlers });
  }

  /** Nest has called `onModuleDestroy` before. What handlers need is closed in `onApplicationShutdown`. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.worker?.stop({ deadlineMs: this.#options.drainMs ?? 25_000 });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.#options.dashboard?.close(), this.#queue.close()]);
  }
}
