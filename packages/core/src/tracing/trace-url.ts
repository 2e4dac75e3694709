const placeholder = "{trace_id}";

/**
 * Whether a text is an http or https URL with `{trace_id}` in its path, query or fragment. Not in its host, and no other
 * scheme: a page makes a link of it.
 */
export function isTraceUrlTemplate(text: string): boolean {
  const [before = ""] = text.split(placeholder);
  if (before === text || !/^https?:\/\/[^/?#\s\\]+[/?#]/i.test(before) || /[\s\\\p{Cc}]/u.test(text)) return false;
  const filled = text.replaceAll(placeholder, "0");
  if (!URL.canParse(filled)) return false;
  const { protocol, username, password } = new URL(filled);
  return (protocol === "http:" || protocol === "https:") && username === "" && password === "";
}

/**
 * Where a person can look at a trace. Its id has been checked to be hexadecimal.
 *
 * @example
 * traceUrl("https://jaeger.example.com/trace/{trace_id}", "0af7651916cd43dd8448eb211c80319c");
 */
export function traceUrl(template: string | undefined, trace_id: string | null): string | null {
  return template === undefined || trace_id === null ? null : template.replaceAll(placeholder, trace_id);
}
