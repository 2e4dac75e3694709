const form = /^schedule:(.*):(\d{4}-.*Z)$/;

/** What the key of a schedule's job says; undefined for another key. */
export function slotOf(key: string): { name: string; at_ms: number } | undefined {
  const [, name, time] = form.exec(key) ?? [];
  return name === undefined || time === undefined ? undefined : { name, at_ms: Date.parse(time) };
}
