import { Body, Post } from '@nestjs/common';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { Reply } from '../common/http/reply.js';
import * as json from '../common/fields/json-schema.js';
import { Route } from '../common/rest/route.js';
import { CopyController } from '../common/rest/copy.controller.js';
import type { Values } from '../common/rest/hooks.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import type { Actor } from '../common/access.js';
import { CurrentActor, DRY_RUN_PARAMETER, DryRun, Target } from '../common/rest/parameters.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { related, SubList } from '../common/rest/sublist.js';
import { LimitedPerUser, NOTIFICATIONS } from '../common/rate/rate.guard.js';
import { NotificationResends, RESENT } from './notification-resends.service.js';
import type { NotificationTemplate } from './notification-template.entity.js';
import { notifications, notificationTemplates } from './notification-templates.resource.js';
import { NotificationTests } from './notification-tests.service.js';
import { ResendRange, TestRequest } from './notification-templates.dto.js';
import { TemplateSecrets } from './template-secrets.service.js';

@Resource(notificationTemplates)
@SubList('notifications', related('notifications'))
export class NotificationTemplatesController extends ResourceController(notificationTemplates) {
  constructor(
    private readonly tests: NotificationTests,
    private readonly resends: NotificationResends,
  ) {
    super();
  }

  /** Responds with status 200 and the pending record. `notification` is its id, for existing clients. */
  @Route({
    operationId: 'notification_templates_test',
    summary: 'Send a test notification in a single attempt. The record shows the result.',
    resource: notifications,
    adds: { notification: json.WIDE_INTEGER },
    parent: notificationTemplates,
    needs: 'change',
    status: 200,
  })
  @Post(':id/test')
  @LimitedPerUser(NOTIFICATIONS)
  async test(
    @Target() template: RowOf<NotificationTemplate>,
    @Body() body: TestRequest,
    @CurrentActor() actor: Actor,
  ): Promise<object> {
    const row = await this.tests.send(template, body, actor);
    const record = await this.services.resources.show(notifications, row, actor);
    return Reply.located({ notification: row.id, ...record }, notifications.url(row.id));
  }

  @Route({
    operationId: 'notification_templates_resend',
    summary:
      'Resend notifications of a time range; default: failed notifications. `?dry_run=1` only lists them.',
    parent: notificationTemplates,
    needs: 'change',
    query: [DRY_RUN_PARAMETER],
    response: RESENT,
    alternatives: [{ status: 200, description: 'The result of a dry run.', response: RESENT }],
    status: 202,
  })
  @Post(':id/resend')
  @Idempotent()
  @LimitedPerUser(NOTIFICATIONS)
  resend(
    @Target() target: Row,
    @Body() body: ResendRange,
    @CurrentActor() actor: Actor,
    @DryRun() dryRun: boolean,
  ): Promise<object> {
    return this.resends.resendAll(target, body, actor, dryRun);
  }
}

@Resource(notificationTemplates, 'api/v2/notification_templates/:id/copy')
export class NotificationTemplateCopyController extends CopyController<NotificationTemplate> {
  constructor(private readonly secrets: TemplateSecrets) {
    super();
  }

  /** Returns the decrypted configuration, which is encrypted again for the new row. */
  protected override async replacedValues({
    id,
    notification_type: type,
    notification_configuration: stored,
  }: RowOf<NotificationTemplate>): Promise<Values> {
    return { notification_configuration: this.secrets.open(id, type, stored) };
  }
}
