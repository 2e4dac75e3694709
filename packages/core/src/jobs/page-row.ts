import { getTableColumns } from "../database/drizzle.ts";
import { jobs, type JobRow } from "../database/schema/jobs.ts";
import { jsonText, type JsonText } from "../memory-budget/json-text.ts";
import { bytesOf, type Weighed } from "../memory-budget/bytes.ts";

/** What a page of jobs only passes on, as text: parsing it, and the garbage, took three quarters of a page's time. */
type PassedOn = "payload" | "result" | "progress";

/** A job of a page. */
export type PageRow = Omit<JobRow, PassedOn> & Record<PassedOn, JsonText | null>;
/** As `pageColumns` are read. */
export type ReadRow = Omit<JobRow, PassedOn> & Record<PassedOn, string | null>;

const passedOn = new Set(["payload", "result", "progress"] satisfies PassedOn[] as string[]);

/** The columns of a job of a page. */
export const pageColumns = Object.keys(getTableColumns(jobs))
  .map((column) => (passedOn.has(column) ? `${column}::text AS ${column}` : column))
  .join(", ");

/** The same row, as copying one takes longer than reading it. */
export function pageRow(row: ReadRow): PageRow {
  const { payload, result, progress } = row;
  return Object.assign(row, { payload: passOn(payload), result: passOn(result), progress: passOn(progress) });
}

const passOn = (text: string | null): JsonText | null => (text === null ? null : jsonText(text));

/** Jobs, of whose columns only these can be large. */
export const weighedJobs: Weighed = {
  from: "atlasqueue.jobs",
  key: "id",
  order: "id DESC",
  bytes: ["payload", "result", "progress", "last_error"].map(bytesOf).join(" + "),
};
