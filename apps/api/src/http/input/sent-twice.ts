import { incomingOf, type ApiContext } from "../context.ts";

/** Whether a header came more than once. For most, Node joins the values; for some, it drops all but the first. */
export function sentTwice(c: ApiContext, name: string): boolean {
  const raw = incomingOf(c)?.rawHeaders ?? [];
  const isIt = (sent: string, at: number) => at % 2 === 0 && sent.length === name.length && sent.toLowerCase() === name;
  return raw.filter(isIt).length > 1;
}
