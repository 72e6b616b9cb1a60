import { Module } from '@nestjs/common';
import { ActivityStreamController } from './activity-stream.controller.js';
import { ActivityRepository } from './activity.repository.js';
import { ActivityService } from './activity.service.js';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityStreamEntry } from './activity-stream-entry.entity.js';
import { ActivityTotal } from './activity-total.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([ActivityStreamEntry, ActivityTotal])],
  controllers: [ActivityStreamController],
  providers: [ActivityRepository, ActivityService],
  exports: [ActivityRepository, ActivityService],
})
export class ActivityModule {}
