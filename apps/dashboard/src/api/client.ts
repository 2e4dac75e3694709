import { createCalls } from "@atlasqueue/client";

/**
 * The API this page came from. The browser adds the session's cookie by itself; the header, which no other site's page
 * can send, is what makes the API accept a change from a cookie. No retries: the page asks again anyway, and says so.
 */
export const client = createCalls({
  url: location.origin,
  headers: { "x-atlasqueue-dashboard": "1" },
  retries: 0,
});
