import { createQueue, type Queue } from "@atlasqueue/core";
import { Module, type DynamicModule, type Provider } from "@nestjs/common";
import { DiscoveryModule, DiscoveryService, HttpAdapterHost } from "@nestjs/core";
import { AtlasQueueHealthIndicator } from "./health.ts";
import { optionsToken, queueToken, type AtlasQueueAsyncOptions, type AtlasQueueOptions } from "./options.ts";
import { AtlasQueueRunner } from "./runner.ts";

const provided: Provider[] = [
  {
    provide: queueToken,
    inject: [optionsToken],
    useFactory(options: AtlasQueueOptions): Queue {
      if ("queue" in options) return options.queue;
      const { worker: _worker, drainMs: _drainMs, dashboard: _dashboard, ...connection } = options;
      return createQueue(connection);
    },
  },
  {
    provide: AtlasQueueRunner,
    inject: [optionsToken, queueToken, DiscoveryService, HttpAdapterHost],
    useFactory: (...given: ConstructorParameters<typeof AtlasQueueRunner>) => new AtlasQueueRunner(...given),
  },
  {
    provide: AtlasQueueHealthIndicator,
    inject: [queueToken, AtlasQueueRunner],
    useFactory: (queue: Queue, runner: AtlasQueueRunner) => new AtlasQueueHealthIndicator(queue, runner),
  },
];
const exported = [queueToken, AtlasQueueRunner, AtlasQueueHealthIndicator];

/** The queue for all modules of an application, and a worker for the methods with `Handler`. */
// oxlint-disable-next-line typescript/no-extraneous-class -- Nest imports classes.
export class AtlasQueueModule {
  /**
   * Import it once, in the root module. Throws as `createQueue` does for a URL that cannot be used; a database that is away
   * keeps no application from starting.
   *
   * @example
   * imports: [AtlasQueueModule.forRoot({ databaseUrl, worker: { queues: ["mail"] } })];
   */
  static forRoot(options: AtlasQueueOptions): DynamicModule {
    return moduleOf({ provide: optionsToken, useValue: options });
  }

  /**
   * The same with options that other providers make.
   *
   * @example
   * AtlasQueueModule.forRootAsync({ inject: [ConfigService], useFactory: (config) => ({ databaseUrl: config.get("DATABASE_URL") }) });
   */
  static forRootAsync({ imports = [], inject = [], useFactory }: AtlasQueueAsyncOptions): DynamicModule {
    return moduleOf({ provide: optionsToken, inject, useFactory }, imports);
  }
}

function moduleOf(options: Provider, imports: AtlasQueueAsyncOptions["imports"] = []): DynamicModule {
  return {
    module: AtlasQueueModule,
    global: true,
    imports: [DiscoveryModule, ...imports],
    providers: [options, ...provided],
    exports: exported,
  };
}

// The sources run as they are, and Node leaves no decorators in them.
Module({})(AtlasQueueModule);
