import { SettingError } from "../../settings/setting-error.ts";
import type { Database } from "../connect.ts";
import { getTableName, is, Table } from "../drizzle.ts";
import { textArray } from "../literals.ts";
import * as schema from "../schema/index.ts";
import { executeOn } from "../statement.ts";

const tables = Object.values(schema)
  .filter((one) => is(one, Table))
  .map((table) => getTableName(table));

/** For a program's start: throws `SettingError` with the rights that the role lacks on tables and sequences of ours. */
export async function requireRights(database: Database): Promise<void> {
  type Row = { name: string; rights: string; role: string };
  const rows = await executeOn(database)<Row>({ text: lacking, params: [textArray(tables), database.schema.name] });
  const [first] = rows;
  if (!first) return;
  const alike = Map.groupBy(rows, ({ rights }) => rights);
  const lacks = [...alike].map(([rights, of]) => `${rights} on ${of.map(({ name }) => name).join(", ")}`);
  throw new SettingError(
    `DATABASE_URL: the role ${first.role} lacks ${lacks.join("; ")}. Run \`atlasqueue migrate --grant ${first.role}\` as the owner`,
  );
}

const lacking = `
  WITH ours AS (
    SELECT pg_class.oid AS id FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid
    WHERE nspname = $2 AND relname = ANY($1::text[])
  ), lacking AS (
    SELECT id, wanted, nth FROM ours, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS one(wanted, nth)
    WHERE NOT has_table_privilege(id, wanted)
    UNION ALL
    SELECT objid, 'USAGE', 1 FROM ours JOIN pg_depend ON refobjid = id JOIN pg_class ON pg_class.oid = objid
    -- In an AND, PostgreSQL may ask the function first. It fails for what is no sequence.
    WHERE classid = 'pg_class'::regclass AND CASE relkind WHEN 'S' THEN NOT has_sequence_privilege(objid, 'USAGE') ELSE false END
  )
  SELECT 'the schema ' || nspname AS name, 'USAGE' AS rights, current_user::text AS role
  FROM pg_namespace WHERE nspname = $2 AND NOT has_schema_privilege(oid, 'USAGE')
  UNION ALL
  (SELECT relname, string_agg(wanted, ', ' ORDER BY nth) AS rights, current_user::text
  FROM lacking JOIN pg_class ON pg_class.oid = id GROUP BY relname ORDER BY relname)`;
