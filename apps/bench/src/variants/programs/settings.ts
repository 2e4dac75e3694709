import type { ServerUrls } from "../variant.ts";

/** Where the servers are, and variables of the environment beyond that. */
export type DeployedSettings = ServerUrls & { env?: Readonly<Record<string, string>> };
