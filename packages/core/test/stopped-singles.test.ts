import { singles } from "./moves.ts";
import { testStopped } from "./stopped-moves.ts";

testStopped(singles);
