import { AtlasQueueModule } from "@atlasqueue/nestjs";
import { Module } from "@nestjs/common";
import { TerminusModule } from "@nestjs/terminus";
import { createDashboard } from "atlasqueue/dashboard";
import { HealthController } from "./health.controller";
import { OrdersModule } from "./orders.module";
import { SignIn, SignInModule } from "./sign-in";

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
    TerminusModule,
  ],
  controllers: [HealthController],
})
export class AppModule {}
