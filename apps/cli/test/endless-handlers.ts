// A module that is never loaded to its end, such as one that waits for a server. Says that it has begun.
import { writeFileSync } from "node:fs";

writeFileSync(process.env["LOADING_FILE"] ?? "", "");
await new Promise(() => setInterval(() => {}, 1_000));
export const handlers = {};
