import { customType, pgSchema, timestamp } from "../drizzle.ts";
import { defaultSchema } from "./name.ts";

/** Another schema's name is filled in as a statement is sent: see `schemaNamed`. */
export const atlasqueue = pgSchema(defaultSchema);

/** What tables are made of beside drizzle's own types. */
export const time = () => timestamp({ withTimezone: true, precision: 6 });
export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

/** The driver reads JSON; drizzle's own type would read a JSON string once more. */
export const json = <T>() => customType<{ data: T }>({ dataType: () => "json" })();
