import { hash } from "node:crypto";

/** Of an error's text: a megabyte of it costs no more than this. */
const read_chars_max = 2_000;
/** Of the pattern: what tells two errors apart comes first. Cut last, or the length of a number would tell them apart. */
const chars_max = 500;
const fingerprint_chars = 16;

/**
 * An error's first line with what differs from job to job taken out: ids, numbers, quoted texts, hexadecimal. Two jobs
 * that died of the same cause have the same pattern.
 *
 * @example
 * errorPattern('TypeError: no user 17 in "mails"'); // "TypeError: no user ‹n› in ‹text›"
 */
export function errorPattern(error: string): string {
  const line = error.slice(0, read_chars_max).split("\n", 1)[0] ?? "";
  return line
    .replaceAll(/"[^"]*"|`[^`]*`|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])/gu, "‹text›")
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "‹id›")
    .replaceAll(/\b0x[0-9a-f]+\b/gi, "‹hex›")
    .replaceAll(/\b(?=[a-f]*\d)[0-9a-f]{8,}\b/gi, (text) => (/^\d+$/.test(text) ? "‹n›" : "‹hex›"))
    .replaceAll(/\d+(?:[.,:]\d+)*/g, "‹n›")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, chars_max);
}

/** A short name of an error's pattern, by which dead letters are grouped. */
export function fingerprintOf(error: string | null): string {
  return hash("sha256", errorPattern(error ?? ""), "hex").slice(0, fingerprint_chars);
}
