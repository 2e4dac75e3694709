import { afterAll, beforeAll } from "vitest";
import { accessTests } from "./pages/access.ts";
import { actTests } from "./pages/acts.ts";
import { flowTests } from "./pages/flows.ts";
import { createWorld, type World } from "./world.ts";

// The main action of each page. One system and one browser for all: starting those takes longer than most of the tests.
let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 120_000);
afterAll(() => (world as World | undefined)?.stop());

const now = () => world;

actTests(now);
accessTests(now);
flowTests(now);
