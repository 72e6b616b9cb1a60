import { Module } from '@nestjs/common';
import { NotificationTemplateHooks } from './notification-template.hooks.js';

@Module({ providers: [NotificationTemplateHooks] })
export class NotificationsModule {}
