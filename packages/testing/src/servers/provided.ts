import type { ClusterTemplate } from "./cluster-template.ts";

/** What `global-setup.ts` hands to every test file; makes vitest's `inject` typed. */
declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    redisUrl: string;
    migratedTemplate: string;
    clusterTemplate: ClusterTemplate;
  }
}
