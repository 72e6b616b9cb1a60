import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityStreamController } from './activity-stream.controller.js';
import { ActivityDeliveriesRepository } from './activity-deliveries.repository.js';
import { ActivityDelivery } from './activity-delivery.entity.js';
import { ActivityRepository } from './activity.repository.js';
import { ActivityService } from './activity.service.js';
import { ActivityStreamEntry } from './activity-stream-entry.entity.js';
import { ActivityTotal } from './activity-total.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([ActivityStreamEntry, ActivityTotal, ActivityDelivery])],
  controllers: [ActivityStreamController],
  providers: [ActivityRepository, ActivityDeliveriesRepository, ActivityService],
  exports: [ActivityRepository, ActivityDeliveriesRepository, ActivityService],
})
export class ActivityModule {}
