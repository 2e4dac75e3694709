import { startAtlasWorker } from "../atlas-worker.ts";
import type { ServerUrls } from "../variant.ts";
import { asProgram, soon } from "./as-program.ts";

const tell_ms = 5;

// A worker that starts and stops when told to, and reports how many jobs it has settled so far.
await asProgram<ServerUrls>(async (servers, say) => {
  let working: { stop(): Promise<void> } | undefined;
  let count = 0;
  const tell = soon(tell_ms, () => say({ succeeded: count }));
  const succeeded = () => {
    count += 1;
    tell();
  };
  const stop = async () => {
    await working?.stop();
    working = undefined;
  };
  process.on("message", (order: "start" | "stop") => {
    if (order === "start") working = startAtlasWorker(servers, { queue: "default", handle() {}, succeeded });
    else void stop().then(() => say({ stopped: true }));
  });
  return { ready: {}, stop };
});
