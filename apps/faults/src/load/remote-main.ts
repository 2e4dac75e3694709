import { createClient } from "@atlasqueue/client";
import { pause } from "@atlasqueue/core/internal";
import { openHistory } from "../history/open-history.ts";
import { readLoadConfig } from "./config.ts";
import { queueNames } from "./kinds.ts";
import { workByHand } from "./remote/by-hand.ts";
import { notedCalls } from "./remote/noted-calls.ts";
import { noteStandstills } from "./noted-standstills.ts";
import { workWithLibrary } from "./remote/with-library.ts";

// Remote workers: for each tenant and queue one that the client library runs, and for each tenant one by hand.
const config = readLoadConfig();
const history = openHistory(config.history, config.process);
noteStandstills(history, config);
const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());

const turns = config.tokens.flatMap(({ name: tenant, value: token }, row) =>
  queueNames.map((queue, column) => {
    const api = config.apis[(row + column) % config.apis.length];
    if (!api) throw new RangeError("there is no API to work for");
    const noted = notedCalls(history, config, { tenant, queue, api: api.name });
    const client = createClient({ url: api.value, token, timeoutMs: 5_000, fetch: noted });
    return { tenant, queue, api: api.name, client };
  }),
);
const library = turns.map((turn) => workWithLibrary(history, config, turn));
const byHand = turns
  .filter(({ queue }) => queue === "plain" || queue === "grouped")
  .map((turn) => workByHand(history, config, turn, stopping.signal));
process.stdout.write("ready\n");

await pause(2 ** 31 - 1, stopping.signal);
await Promise.all([...library.map((worker) => worker.stop({ deadlineMs: 4 * config.lease_ms })), ...byHand]);
history.close();
process.exit(0);
