import { text } from "../drizzle.ts";
import { atlasqueue } from "./columns.ts";

/** Whose jobs a role may submit that has no rights on the tables: read by the function `submitting_tenant`. */
export const submitGrants = atlasqueue.table("submit_grants", {
  role: text().primaryKey(),
  tenant: text().notNull(),
});
