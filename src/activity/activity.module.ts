import { Module } from '@nestjs/common';
import { ActivityStreamController } from './activity-stream.controller.js';
import { ActivityRepository } from './activity.repository.js';
import { ActivityService } from './activity.service.js';

@Module({
  controllers: [ActivityStreamController],
  providers: [ActivityRepository, ActivityService],
  exports: [ActivityService],
})
export class ActivityModule {}
