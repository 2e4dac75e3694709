import * as fc from "fast-check";

/** JSON texts, not values, as no value could be written as some of them. */
const hostileJson = fc.oneof(
  fc.constantFrom(
    "null",
    "true",
    "[]",
    "{}",
    '""',
    "0",
    "-0",
    "-1",
    "0.5",
    "2147483648",
    "9007199254740993",
    "1e18",
    "1e400",
    "-1e400",
    '"0"',
    String.raw`"\u0000"`,
    String.raw`"\ud800"`,
    String.raw`"a\r\nb\u001b[31m"`,
    '"__proto__"',
    '{"__proto__":{"polluted":true}}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    String.raw`{"\u0000":1}`,
    '{"toJSON":1,"length":-1,"then":{}}',
    '"infinity"',
    '"2026-02-30T00:00:00Z"',
    '"9999-12-31T23:59:60Z"',
    `"'; DROP TABLE jobs; --"`,
    '"</script><img src=x onerror=alert(1)>"',
    '"../../etc/passwd"',
    `"${"x".repeat(70_000)}"`,
    `${"[".repeat(3_000)}${"]".repeat(3_000)}`,
    `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`,
    `[${"0,".repeat(3_000)}0]`,
  ),
  fc.json({ stringUnit: "binary" }),
);

const place = '"@hostile@"';

/** A good JSON text with one value replaced, removed, added or renamed. */
export function mutatedJson(valid: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc.tuple(valid, fc.nat(), hostileJson, fc.constantFrom("replace", "remove", "add", "rename")).map(mutate);
}

function mutate([value, at, hostile, how]: [unknown, number, string, string]): string {
  const copy: Holder = { root: structuredClone(value) };
  const all = placesOf(copy);
  const [holder, key] = all[at % all.length] ?? [copy, "root"];
  const here = holder[key];
  if (how === "remove" && holder !== copy) delete holder[key];
  else if (how === "add" && typeof here === "object" && here !== null) (here as Holder).unexpected = "@hostile@";
  else if (how === "rename" && holder !== copy && !Array.isArray(holder)) {
    delete holder[key];
    holder[key.toUpperCase()] = here;
  } else holder[key] = "@hostile@";
  return (JSON.stringify(copy["root"]) ?? "").replace(place, () => hostile);
}

type Holder = Record<string, unknown>;

/** Everything inside a value, as what holds it and under which key. */
function placesOf(holder: Holder): [Holder, string][] {
  return Object.entries(holder).flatMap(([key, inner]): [Holder, string][] => [
    [holder, key],
    ...(typeof inner === "object" && inner !== null ? placesOf(inner as Holder) : []),
  ]);
}

/** What is not JSON at all. */
export const hostileBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc
    .constantFrom("", "{", '{"a":1,}', "{}{}", "'x'", "NaN", "\ufeff", "undefined", "[".repeat(100_000))
    .map((text) => new TextEncoder().encode(text)),
);

/** A part of a path, in which anything may stand that Node sends. */
export const hostileSegment: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    ...". .. %00 %zz %ff%fe % %2F %2e%2e%2f a%0d%0ab %F0%9F%98%80 * :id {id} batch __proto__ constructor".split(" "),
    "not-a-uuid",
    "00000000-0000-0000-0000-000000000000",
    "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    "'%20OR%201=1",
    "x".repeat(4_000),
  ),
  fc.string({ unit: "binary", maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed())),
);

const names = "limit cursor status queue queue_name offset type group wait_seconds unknown".split(" ");
const values = "0 -1 abc 1e9 201 10001 %00 %ff %zz foo succeeded pending null a&b %F0%9F%98%80".split(" ");

/** A query, with all the ways to get one wrong. */
export const hostileQuery: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.constantFrom(...names, "", "__proto__", "a[b]"), fc.constantFrom("", ...values)), { maxLength: 4 })
  .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`);

/** A header's value: what HTTP allows, which is more than text. */
export const hostileHeader: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    '""',
    '"',
    '"a',
    String.raw`"\"`,
    "a,b",
    "x".repeat(600),
    "clé",
    "*",
    "0",
    "-1",
    "%00",
    "; ;",
  ),
  fc.string({ unit: fc.constantFrom(..."\t !\"#%',/:;<=>?@[\\]aZ09{|}~\u0080\u00e9\u00ff"), maxLength: 60 }),
);
