import { useId, useMemo } from "react";
import type { JsonObject } from "@atlasqueue/contract";

export type Read = { value: JsonObject; fault?: undefined } | { value?: undefined; fault: string };

/** What a text means as a JSON object, or where it is wrong. */
export function readJson(text: string): Read {
  try {
    const value: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { fault: "must be a JSON object: {…}" };
    return { value: value as JsonObject };
  } catch (error) {
    return { fault: `is not JSON: ${faultWords(text, error)}` };
  }
}

/** Engines name a position, or a line and a column, or neither. */
function faultWords(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const at = /position (\d+)/.exec(message)?.[1];
  const words = message.replace(/ in JSON at position.*| at position.*|, ".*/s, "");
  if (at === undefined || /line \d/.test(words)) return words;
  const before = text.slice(0, Number(at)).split("\n");
  return `${words} in line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** A field for a JSON object, which says what is wrong as one types. Tab indents; Escape, then Tab leaves it. */
export function JsonField({
  label,
  hint,
  rows = 8,
  text,
  onChange,
}: {
  label: string;
  hint?: string;
  rows?: number;
  text: string;
  onChange: (text: string) => void;
}) {
  const id = useId();
  const { fault } = useMemo(() => readJson(text), [text]);
  return (
    <div className="field" data-wide>
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input mono"
        rows={rows}
        spellCheck={false}
        autoCapitalize="off"
        value={text}
        aria-invalid={fault !== undefined}
        aria-describedby={`${id}-note`}
        onChange={({ target }) => onChange(target.value)}
      />
      <span id={`${id}-note`} className={fault === undefined ? "hint" : "fault"} role={fault ? "alert" : undefined}>
        {fault === undefined ? (hint ?? "A JSON object") : `${label} ${fault}`}
      </span>
    </div>
  );
}
