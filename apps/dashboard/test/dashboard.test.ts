import { afterAll, beforeAll } from "vitest";
import { accessTests } from "./pages/access.ts";
import { actTests } from "./pages/acts.ts";
import { axeTests } from "./pages/axe.ts";
import { flowTests } from "./pages/flows.ts";
import { hostileTests } from "./pages/hostile.ts";
import { linkTests } from "./pages/link.ts";
import { listTests } from "./pages/lists.ts";
import { liveTests } from "./pages/live.ts";
import { sizeTests } from "./pages/size.ts";
import { traceTests } from "./pages/traces.ts";
import { createWorld, type World } from "./world.ts";

// One system and one browser for all of them: starting those takes longer than most of the tests.
let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 120_000);
afterAll(() => (world as World | undefined)?.stop());

const now = () => world;

actTests(now);
listTests(now);
accessTests(now);
flowTests(now);
hostileTests(now);
axeTests(now);
liveTests(now);
sizeTests(now);
traceTests(now);
// Last, as it takes the servers away.
linkTests(now);
