import { endWithReader } from "./output/output.ts";
import { createProgram } from "./program.ts";

endWithReader();
await createProgram(process.env).parseAsync();
