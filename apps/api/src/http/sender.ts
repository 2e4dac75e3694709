import type { ApiContext } from "./context.ts";

/** How the log names a request and its sender. The caller's own id for it is apart: a caller may send any. */
export function senderOf(c: ApiContext) {
  const [request_id, told, caller] = [c.get("api_request_id"), c.get("request_id"), c.get("caller")];
  return {
    request_id,
    ...(told !== request_id && { caller_request_id: told }),
    ...(caller?.token_id !== undefined && { token_id: caller.token_id }),
    ...(caller && { tenant: caller.tenant }),
    client_address: c.get("client_address"),
  };
}
