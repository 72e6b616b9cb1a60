import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '../activity/activity.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { LogForwarding } from './log-forwarding.entity.js';
import { LogForwardingRepository } from './log-forwarding.repository.js';
import { LogLines } from './log-lines.service.js';
import { LogTarget } from './log-target.service.js';
import { LogTestsController } from './log-tests.controller.js';

@Module({
  imports: [ActivityModule, OutboundModule, TypeOrmModule.forFeature([LogForwarding])],
  controllers: [LogTestsController],
  providers: [LogForwardingRepository, LogTarget, LogLines],
  exports: [LogForwardingRepository, LogTarget, LogLines],
})
export class LoggingModule {}
