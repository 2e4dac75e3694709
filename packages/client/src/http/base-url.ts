/**
 * What is wrong with the URL of an API, worded to follow "must be"; undefined when nothing is. Fetch would refuse a
 * user and a password and show both in its message.
 *
 * @example
 * faultOfUrl("http://me:secret@localhost"); // "without a user and password; a token says who calls"
 */
export function faultOfUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return "an http(s) URL, such as http://127.0.0.1:8000";
  if (url.username || url.password) return "without a user and password; a token says who calls";
  if (url.search || url.hash) return "without a query and a fragment, such as http://127.0.0.1:8000";
  return undefined;
}

/** The URL without a trailing slash. Throws a TypeError, which does not show the URL. */
export function baseUrl(text: string): string {
  const fault = faultOfUrl(text);
  if (fault !== undefined) throw new TypeError(`url must be ${fault}`);
  const { origin, pathname } = new URL(text);
  return origin + pathname.replace(/\/+$/, "");
}
