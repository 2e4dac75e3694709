import { writeSync } from "node:fs";
import { faultAt } from "./faults.ts";
import { tellStory, until } from "./story.ts";
import { openWorld, type Pace, type Place } from "./world.ts";

// A process that does all that the story asks for, and is killed at a point of it. It says what it was told, at once.
const [given = "{}"] = process.argv.slice(2);
const { place, pace, point } = JSON.parse(given) as { place: Place; pace: Pace; point: string };
const fault = faultAt(point, "kill");
const world = openWorld(place, { ...pace, reach: fault.reach });
await tellStory(world, (key, id) => void writeSync(1, `${JSON.stringify({ key, id })}\n`));
await until("the point to be reached", async () => fault.reached());
