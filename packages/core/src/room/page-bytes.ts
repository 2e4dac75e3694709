import { withinHeap } from "./within-heap.ts";

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
export const beside_bytes_max = Math.floor(page_bytes_max / 4);

/** As of a claim's payloads (`lease/payload-bytes.ts`): what is stored outside the row is not read for its size. */
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
