import { batches } from "./moves.ts";
import { testStopped } from "./stopped-moves.ts";

testStopped(batches);
