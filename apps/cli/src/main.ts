import { createProgram } from "./program.ts";

await createProgram(process.env).parseAsync();
