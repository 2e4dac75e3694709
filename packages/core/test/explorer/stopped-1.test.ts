// @module-tag slow
import { testStopped } from "./stops.ts";

testStopped(0, 3);
