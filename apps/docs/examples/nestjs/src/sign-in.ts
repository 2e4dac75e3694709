import type { DashboardUser } from "atlasqueue/dashboard";
import { Injectable, Module } from "@nestjs/common";

/** Your own sign-in: it knows the user by the request's cookie. */
@Injectable()
export class SignIn {
  userOf(request: Request): DashboardUser | undefined {
    const session = /(?:^|; )session=([^;]+)/.exec(request.headers.get("cookie") ?? "")?.[1];
    return session && session === process.env.ADMIN_SESSION ? { name: "ada", scopes: ["admin"] } : undefined;
  }
}

@Module({ providers: [SignIn], exports: [SignIn] })
export class SignInModule {}
