import { dashboard } from "../../../../lib/dashboard";

function answer(request: Request): Promise<Response> {
  // Next.js, or the proxy in front of it, appends the client's address.
  const address = request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim();
  return dashboard().fetch(request, { address });
}
export { answer as GET, answer as POST, answer as PUT, answer as PATCH, answer as DELETE };
