import { incomingOf, type ApiContext } from "../context.ts";

/** Whether a header came more than once. For most, Node joins the values; for some, it drops all but the first. */
export function sentTwice(c: ApiContext, name: string): boolean {
  const raw = incomingOf(c)?.rawHeaders;
  if (!raw) return false;
  let times = 0;
  for (let at = 0; at < raw.length; at += 2) {
    const sent = raw[at] as string;
    if (sent.length === name.length && sent.toLowerCase() === name) times += 1;
  }
  return times > 1;
}
