import { startAtlasWorker } from "../variants/atlas-worker.ts";
import type { ServerUrls } from "../variants/variant.ts";
import { asProgram } from "./as-program.ts";

const tell_ms = 5;

// A worker that starts and stops when told to, and tells how many jobs it has settled so far.
await asProgram<ServerUrls>(async (servers, say) => {
  let working: { stop(): Promise<void> } | undefined;
  let succeeded = 0;
  let told = 0;
  const tell = () => {
    if (told === succeeded) return;
    told = succeeded;
    say({ succeeded });
  };
  const telling = setInterval(tell, tell_ms);
  const settled = () => void (succeeded += 1);
  const stop = async () => {
    await working?.stop();
    working = undefined;
  };
  process.on("message", (order: "start" | "stop") => {
    if (order === "start") working = startAtlasWorker(servers, { queue: "default", handle() {}, succeeded: settled });
    else void stop().then(() => say({ stopped: true }));
  });
  return {
    ready: {},
    async stop() {
      clearInterval(telling);
      await stop();
    },
  };
});
