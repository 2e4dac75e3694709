/** The schema that holds the tables, and what puts its name into statements. */
export type SchemaName = { name: string; fill: (text: string) => string };

export const defaultSchema = "atlasqueue";

export const schemaAccepts =
  "a name of letters, digits, _ and -, at most 48 characters, that begins with a letter or _ and not with pg_";
export const isSchemaName = (text: string): boolean => /^(?!pg_)[A-Za-z_][A-Za-z0-9_-]{0,47}$/.test(text);

/** As statements and drizzle write it. A setting of ours may have the same prefix. */
const placeholder = /(?<!_(?:config|setting)\(')\batlasqueue\.|"atlasqueue"\./g;
const texts_max = 2_000;

/**
 * Statements name tables as `atlasqueue.jobs`, so that they can be pasted into psql and no `search_path` matters. For
 * another schema each text is filled once. Throws a TypeError for a name that is not accepted.
 *
 * @example
 * schemaNamed("emails").fill("SELECT FROM atlasqueue.jobs"); // SELECT FROM "emails".jobs
 */
export function schemaNamed(name: string = defaultSchema): SchemaName {
  if (!isSchemaName(name)) throw new TypeError(`schema must be ${schemaAccepts}; got ${JSON.stringify(name)}`);
  if (name === defaultSchema) return { name, fill: (text) => text };
  const filled = new Map<string, string>();
  return {
    name,
    fill(text) {
      let known = filled.get(text);
      if (known === undefined) {
        if (filled.size >= texts_max) filled.clear();
        known = text.replaceAll(placeholder, `"${name}".`);
        filled.set(text, known);
      }
      return known;
    },
  };
}
