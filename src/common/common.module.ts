import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import { Settings } from '../config/settings.js';
import { ErrorPages } from './browsable/error-pages.js';
import { Forms } from './browsable/forms.js';
import { PageInterceptor } from './browsable/page.interceptor.js';
import { PageRenderer } from './browsable/page-renderer.js';
import { PagePanels } from './browsable/panels.js';
import { ReferenceLists } from './browsable/reference-choices.js';
import { PasswordHasher } from './crypto/password-hash.js';
import { SecretBox } from './crypto/secret-box.js';
import { ErrorsFilter } from './http/errors.filter.js';
import { Idempotency } from './http/idempotency.js';
import './http/idempotency-table.js';
import { OptionsService } from './http/options.service.js';
import { ReplyInterceptor } from './http/reply.interceptor.js';
import { RouteTable } from './http/route-table.js';
import { ListService } from './list/list.service.js';
import { ApiDocument } from './openapi/api-document.js';
import { BullQueuePort, bullQueues, bullRoot } from './queue/bull.js';
import { Outbox } from './queue/outbox.js';
import { QueuePort } from './queue/queue.port.js';
import { RedisConnection } from './queue/redis.js';
import './queue/tables.js';
import { RateLimiter } from './rate/rate-limiter.js';
import { Machinery } from './resource/machinery.js';
import { References } from './resource/references.js';
import { ResourceService } from './resource/resource.service.js';

const secretBox = (settings: Settings): SecretBox =>
  settings.SECRET_KEY_OLD === ''
    ? new SecretBox(settings.SECRET_KEY)
    : new SecretBox(settings.SECRET_KEY, settings.SECRET_KEY_OLD);

const shared = [
  { provide: SecretBox, inject: [Settings], useFactory: secretBox },
  { provide: PasswordHasher, useFactory: () => new PasswordHasher() },
  RedisConnection,
  RateLimiter,
  BullQueuePort,
  { provide: QueuePort, useExisting: BullQueuePort },
  Outbox,
  ListService,
  References,
  ResourceService,
  Machinery,
  RouteTable,
  OptionsService,
  ApiDocument,
  Idempotency,
];

const pages = [ReferenceLists, Forms, PagePanels, PageRenderer, ErrorPages];

/** The machinery every feature stands on. It knows none of them. */
@Global()
@Module({
  imports: [DiscoveryModule, bullRoot, bullQueues],
  providers: [
    ...shared,
    ...pages,
    { provide: APP_FILTER, useClass: ErrorsFilter },
    // Pages surround the shaping of replies: they show the JSON that every other client gets.
    { provide: APP_INTERCEPTOR, useClass: PageInterceptor },
    { provide: APP_INTERCEPTOR, useClass: ReplyInterceptor },
  ],
  exports: [...shared, DiscoveryModule],
})
export class CommonModule {}
