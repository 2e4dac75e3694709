import { acts, actsOnOne } from "./moves.ts";
import { testStopped } from "./stopped-moves.ts";

testStopped({ ...acts, ...actsOnOne });
