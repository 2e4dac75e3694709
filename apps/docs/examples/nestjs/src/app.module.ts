import { AtlasQueueModule } from "@atlasqueue/nestjs";
import { Module } from "@nestjs/common";
import { createDashboard } from "atlasqueue/dashboard";
import { HealthModule } from "./health.js";
import { OrdersModule } from "./orders.module.js";
import { SignIn, SignInModule } from "./sign-in.js";

@Module({
  imports: [
    AtlasQueueModule.forRootAsync({
      imports: [SignInModule],
      inject: [SignIn],
      useFactory: (signIn: SignIn) => {
        const { DATABASE_URL: databaseUrl = "", REDIS_URL: redisUrl } = process.env;
        const user = (request: Request) => signIn.userOf(request);
        const dashboard = createDashboard({ databaseUrl, redisUrl, basePath: "/admin/queues", user });
        return { databaseUrl, redisUrl, dashboard };
      },
    }),
    OrdersModule,
    HealthModule,
  ],
})
export class AppModule {}
