/** On one line, without anything that could rewrite a terminal's screen. */
export function plain(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, " ").toWellFormed();
}

/** JSON with everything `plain` removes escaped: a terminal or a log may show it. */
export function plainJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(/[\u007f-\u009f\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, escape);
}

const escape = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A time for a person in a table, in UTC: 2026-11-20 12:30:07Z. */
export function second(time: string | null): string {
  return time === null ? "" : `${time.slice(0, 19).replace("T", " ")}Z`;
}

const units: [name: string, seconds: number][] = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
];

/** @example duration(7_500_000); // "2h 5m" */
export function duration(ms: number): string {
  let seconds = Math.max(0, Math.round(ms / 1_000));
  const parts: string[] = [];
  for (const [name, length] of units) {
    const count = Math.floor(seconds / length);
    if (count > 0 || parts.length > 0) parts.push(`${count}${name}`);
    seconds -= count * length;
  }
  return [...parts, `${seconds}s`].slice(0, 2).join(" ");
}
