import { Global, Module } from '@nestjs/common';
import { ActivityRecorder } from '../common/activity/activity.js';
import { ActivityStreamController } from './activity-stream.controller.js';
import { ActivityRepository } from './activity.repository.js';
import { ActivityService } from './activity.service.js';

@Global()
@Module({
  controllers: [ActivityStreamController],
  providers: [ActivityRepository, { provide: ActivityRecorder, useClass: ActivityService }],
  exports: [ActivityRecorder],
})
export class ActivityModule {}
