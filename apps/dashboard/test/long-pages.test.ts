// @module-tag nightly
import { afterAll, beforeAll } from "vitest";
import { axeWidthTests } from "./pages/axe.ts";
import { reloadTests } from "./pages/upgrade.ts";
import { createWorld, type World } from "./world.ts";

// The slowest checks that apply to every page.
let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 120_000);
afterAll(() => (world as World | undefined)?.stop());

axeWidthTests(() => world);
reloadTests(() => world);
