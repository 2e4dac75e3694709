import postgres from "postgres";
import type { TestProject } from "vitest/node";
import setup from "./global-setup.ts";

/** The run's servers, with a role that does not look for tables in any schema of ours. */
export default async function setupElsewhere(project: TestProject): Promise<() => Promise<void>> {
  const stop = await setup(project);
  const sql = postgres(project.getProvidedContext().postgresUrl, { max: 1 });
  // Tests make tables and functions of their own in public.
  await sql`ALTER ROLE CURRENT_USER SET search_path = pg_catalog, public`;
  await sql.end();
  return stop;
}
