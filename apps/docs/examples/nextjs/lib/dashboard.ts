import { createDashboard, type Dashboard, type DashboardUser } from "atlasqueue/dashboard";

const kept = globalThis as { dashboard?: Dashboard };

/** Your own sign-in: it knows the user by the request's cookie. */
function userOf(request: Request): DashboardUser | undefined {
  const session = /(?:^|; )session=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1];
  return session && session === process.env.ADMIN_SESSION ? { name: "ada", scopes: ["admin"] } : undefined;
}

/** Nothing connects before its first request. */
export function dashboard(): Dashboard {
  const { DATABASE_URL: databaseUrl = "", REDIS_URL: redisUrl } = process.env;
  const options = { databaseUrl, redisUrl, basePath: "/admin/queues", user: userOf };
  return (kept.dashboard ??= createDashboard(options));
}
