// @module-tag nightly
import { forFile } from "@atlasqueue/harness";
import { axeWidthTests } from "./pages/axe.ts";
import { reloadTests } from "./pages/upgrade.ts";
import { createWorld } from "./world.ts";

// The slowest checks that apply to every page.
const world = forFile(createWorld);

axeWidthTests(() => world);
reloadTests(() => world);
