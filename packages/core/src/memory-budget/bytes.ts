import { getHeapStatistics } from "node:v8";
import { limits } from "@atlasqueue/contract";

/** What a process that does nothing has in its heap. */
const own_bytes = 64 * 1_048_576;

/**
 * A bound on memory, or on what takes memory: as given, and in a small process less, as its heap allows `1/part` of what
 * it does not need for itself, at `bytes_each`. Node gives itself half of the memory of its container or machine, up to 4 GB.
 *
 * @example
 * const waiting = createShares(withinHeap(128 * 1_048_576, { part: 4 })); // 48 MiB where the heap has 256
 */
export function withinHeap(max: number, { part, bytes_each = 1 }: { part: number; bytes_each?: number }): number {
  // A process with so little would hardly start.
  const free_bytes = Math.max(own_bytes / 4, heapBytes() - own_bytes);
  return Math.min(max, Math.floor(free_bytes / part / bytes_each));
}

/**
 * What lasts has to fit into. Where it was set, V8's limit is that and up to 192 MiB for what is new.
 *
 * @example
 * heapBytes(["--max-old-space-size=256"]); // 268435456
 */
export function heapBytes(
  options: readonly string[] = [process.env["NODE_OPTIONS"] ?? "", ...process.execArgv],
): number {
  const set = [...options.join(" ").matchAll(/--max[-_]old[-_]space[-_]size[= ](\d+)/g)].at(-1)?.[1];
  const { heap_size_limit } = getHeapStatistics();
  return set === undefined ? heap_size_limit : Math.min(heap_size_limit, Number(set) * 1_048_576);
}

/**
 * What a byte of JSON takes in memory once the driver has parsed it, at most, with the text itself and that of the
 * answer: in a list `{}` takes 21, `{"99":0}` 23, `[]` 13, `{"a":0}` 5, `0` 4 and a short text 2.
 */
const parsed_bytes_each = 24;

/**
 * How large what is in the jobs of one page may be together, as its jobs are read whole: a page ends before the first
 * that is too much, and the next one begins there. The first job is in it whatever its size. In a small process it is as
 * much as fits into half of the heap when it is parsed.
 */
export const page_bytes_max = withinHeap(4 * 1_048_576, { part: 2, bytes_each: parsed_bytes_each });

/** How large may be what is read beside the jobs: the steps of those that are leased, and the results they waited for. */
export const shared_page_bytes_max = Math.floor(page_bytes_max / 4);

/** As of `payloadBytes`: a value stored outside the row is not read for its size. */
export const bytesOf = (column: string) => `
      CASE WHEN pg_column_compression(${column}) IS NULL THEN coalesce(pg_column_size(${column}), 0)
           ELSE octet_length(${column}::text) END`;

/** The rows of a page: where they are, by which column, in which order, and how large each is. */
export type Weighed = { from: string; key: string; order: string; bytes: string };

/**
 * Parts of a WITH RECURSIVE, after `page`, which has a key in each row: `fitting` has the keys that fit, in an order, into
 * a number of bytes, and the `bytes` up to each. They are weighed one by one: what is compressed is read for its size, so
 * weighing all of a page would read far more than the page shows.
 */
export const fitting = ({ from, key, order, bytes }: Weighed, bytes_max: string | number = page_bytes_max) => `
  in_order AS MATERIALIZED (
    SELECT array_agg(${key} ORDER BY ${order}) AS keys FROM page
  ), weighed AS (
    SELECT 0 AS nth, 0::bigint AS bytes
    UNION ALL
    SELECT nth + 1, weighed.bytes + (SELECT ${bytes} FROM ${from} WHERE ${key} = keys[nth + 1])
    FROM weighed, in_order WHERE weighed.bytes < ${bytes_max} AND nth < cardinality(keys)
  ), fitting AS MATERIALIZED (
    SELECT keys[nth] AS ${key}, bytes FROM weighed, in_order WHERE nth > 0
  )`;

/** Whether the page was cut. */
export const isCut = "(SELECT count(*) FROM fitting) < (SELECT count(*) FROM page)";

/** This many payloads cannot exceed it, whatever they are. Payloads of one claim may be as large together as a page. */
export const never_too_heavy = Math.max(1, Math.floor(page_bytes_max / limits.payload_bytes_max));

/**
 * The size of a payload, without reading one stored outside its row: its size is in the pointer, unless it is
 * compressed.
 */
export const payloadBytes = `CASE WHEN pg_column_compression(payload) IS NULL THEN pg_column_size(payload)
      ELSE octet_length(payload::text) END`;
