// @module-tag slow
import { forFile } from "@atlasqueue/harness";
import { axeTests } from "./pages/axe.ts";
import { factTests } from "./pages/facts.ts";
import { hostileTests } from "./pages/hostile.ts";
import { linkTests } from "./pages/link.ts";
import { listTests } from "./pages/lists.ts";
import { liveTests } from "./pages/live.ts";
import { narrowTests } from "./pages/narrow.ts";
import { sizeTests } from "./pages/size.ts";
import { traceTests } from "./pages/traces.ts";
import { upgradeTests } from "./pages/upgrade.ts";
import { createWorld } from "./world.ts";

// What holds for every page: lists of any length, hostile texts, accessibility, live events, outages.
const world = forFile(createWorld);
const now = () => world;

listTests(now);
factTests(now);
hostileTests(now);
axeTests(now);
liveTests(now);
narrowTests(now);
sizeTests(now);
traceTests(now);
upgradeTests(now);
// Last, as it takes the servers away.
linkTests(now);
