import { Module } from '@nestjs/common';
import { HealthController } from './health.controller.js';
import { HealthService } from './health.service.js';
import { RootController } from './root.controller.js';
import { RootService } from './root.service.js';

@Module({
  controllers: [RootController, HealthController],
  providers: [RootService, HealthService],
})
export class RootModule {}
