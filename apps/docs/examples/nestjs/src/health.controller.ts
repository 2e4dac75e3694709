import { AtlasQueueHealthIndicator } from "@atlasqueue/nestjs";
import { Controller, Get } from "@nestjs/common";
import { HealthCheck, HealthCheckService } from "@nestjs/terminus";

@Controller("health")
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly atlasqueue: AtlasQueueHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.atlasqueue.isHealthy("queue")]);
  }
}
