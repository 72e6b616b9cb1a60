import { Post } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import { Route } from '../common/rest/route.js';
import type { Row } from '../common/resource/define-resource.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { related, SubList } from '../common/rest/sublist.js';
import { LimitedPerUser, NOTIFICATIONS } from '../common/rate/rate.guard.js';
import { NotificationResends } from './notification-resends.service.js';
import { notifications } from './notification-templates.resource.js';

@Resource(notifications)
@SubList('attempts', related('attempts'))
export class NotificationsController extends ResourceController(notifications) {
  constructor(private readonly resends: NotificationResends) {
    super();
  }

  @Route({
    link: 'resend',
    operationId: 'notifications_resend',
    summary: 'Resend a finished notification as a new record.',
    resource: notifications,
    adds: { notification: json.WIDE_INTEGER },
    parent: notifications,
    needs: 'resend',
    status: 202,
  })
  @Post(':id/resend')
  @LimitedPerUser(NOTIFICATIONS)
  async resend(@Target() target: Row, @CurrentActor() actor: Actor): Promise<object> {
    const row = await this.resends.resend(target, actor);
    const record = await this.services.resources.show(notifications, row, actor);
    return { notification: row.id, ...record };
  }
}
