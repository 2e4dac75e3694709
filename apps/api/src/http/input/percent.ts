/** Whether every % of a part of a URL is an escape, and all of them together are UTF-8. */
export function isText(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
