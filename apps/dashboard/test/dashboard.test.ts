import { forFile } from "@atlasqueue/harness";
import { accessTests } from "./pages/access.ts";
import { actTests } from "./pages/acts.ts";
import { flowTests } from "./pages/flows.ts";
import { createWorld } from "./world.ts";

// The main action of each page. One system and one browser for all: starting those takes longer than most of the tests.
const world = forFile(createWorld);
const now = () => world;

actTests(now);
accessTests(now);
flowTests(now);
