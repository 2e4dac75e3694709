import { fileURLToPath } from "node:url";

/** The file of the `atlasqueue` command: every program of the system is one of its subcommands. */
export const commandFile = fileURLToPath(new URL("../../../../apps/cli/src/main.ts", import.meta.url));
