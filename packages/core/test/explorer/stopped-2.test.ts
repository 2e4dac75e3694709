// @module-tag slow
import { testStopped } from "./stops.ts";

testStopped(1, 3);
