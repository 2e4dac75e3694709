import { pause } from "@atlasqueue/core/internal";
import { openHistory } from "../history/open-history.ts";
import { readLoadConfig } from "./config.ts";
import { prepare } from "./people/prepare.ts";
import { keepPace } from "./submit/pace.ts";
import { openWorld } from "./submit/world.ts";

// Submits jobs of every kind, and does what people do, until SIGTERM; then finishes what is under way.
const over_ms = 30_000;

const config = readLoadConfig();
const [stopping, over] = [new AbortController(), new AbortController()];
process.once("SIGTERM", () => {
  stopping.abort();
  void pause(over_ms, over.signal).then(() => over.abort());
});
const world = openWorld(config, openHistory(config.history, config.process), stopping.signal, over.signal);
await prepare(world);
process.stdout.write("ready\n");
await keepPace(world);
over.abort();
await world.close();
process.exit(0);
