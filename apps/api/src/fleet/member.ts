import { mergeMetrics } from "@atlasqueue/core/internal/http";
import { runMember, type MemberParts, type RunningMember } from "@atlasqueue/program";
import { readApiConfig } from "../config.ts";
import { startApi } from "../start-api.ts";

/** An API that is one of several processes on one port. Its `/metrics` has the lines of all of them. */
export const runOne = (env: NodeJS.ProcessEnv): Promise<void> => runMember((parts) => start(env, parts));

async function start(env: NodeJS.ProcessEnv, parts: MemberParts): Promise<RunningMember> {
  const { number, log, signal, gather } = parts;
  const config = readApiConfig(env);
  const api = await startApi(config, {
    log,
    ...(signal && { signal }),
    member: { number, gatherMetrics: async () => mergeMetrics(await gather()) },
  });
  const { url, port, dashboard } = api;
  return { about: { url, port, dashboard }, hang_ms: config.hang_ms, stop: api.stop, says: api.ownMetrics };
}
