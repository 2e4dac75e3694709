import type { IncomingMessage, ServerResponse } from "node:http";
import type { Queue, QueueOptions } from "@atlasqueue/core";
import type { Handler, WorkerOptions } from "@atlasqueue/worker";
import { Inject, type FactoryProvider, type ModuleMetadata } from "@nestjs/common";

/** What `createDashboard` of `atlasqueue/dashboard` returns. */
type Dashboard = {
  readonly basePath: string;
  node(incoming: IncomingMessage, outgoing: ServerResponse): void;
  close(): Promise<void>;
};

/** A queue of your own. That of `@atlasqueue/testing` gets the application's handlers. */
type OwnQueue = Queue & { handle?(...handlers: Handler[]): void };

export type AtlasQueueOptions = (QueueOptions | { queue: OwnQueue }) & {
  /**
   * How this process runs its handlers, as `createWorker` takes it. `false`: it only submits. Default: ten at once, from the
   * queue "default". With a `queue` of your own there is no worker.
   */
  worker?: false | Omit<WorkerOptions, "databaseUrl" | "handlers">;
  /** Milliseconds that running handlers have to finish when the application stops. Default 25,000. */
  drainMs?: number;
  /** Served at its `basePath`, and closed with the application. */
  dashboard?: Dashboard;
};

export type AtlasQueueAsyncOptions = Pick<ModuleMetadata, "imports"> &
  Pick<FactoryProvider<AtlasQueueOptions>, "inject" | "useFactory">;

/**
 * The injection token of the options, for a test of the whole application.
 *
 * @example
 * Test.createTestingModule({ imports: [AppModule] }).overrideProvider(optionsToken).useValue({ queue: createTestQueue() });
 */
export const optionsToken = Symbol("atlasqueue options");

/** The injection token of the queue, for `overrideProvider` and `inject`. */
export const queueToken = "atlasqueue:queue";

/**
 * Injects the queue into a constructor's parameter or a property.
 *
 * @example
 * constructor(@InjectQueue() private readonly queue: Queue) {}
 */
export const InjectQueue = (): ReturnType<typeof Inject> => Inject(queueToken);
