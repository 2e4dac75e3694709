// @module-tag slow
import { testStopped } from "./stops.ts";

testStopped(2, 3);
