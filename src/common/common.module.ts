import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core';
import { Settings } from '../config/settings.js';
import { ErrorPages } from './pages/error-pages.service.js';
import { Forms } from './pages/forms.service.js';
import { PageForms } from './pages/page-forms.service.js';
import { PageInterceptor } from './pages/page.interceptor.js';
import { PageRenderer } from './pages/page-renderer.service.js';
import { PageSections } from './pages/page-sections.service.js';
import { PagePanels } from './pages/page-panels.service.js';
import { BookmarkedObjects } from './pages/bookmarked-objects.service.js';
import { PagePlace } from './pages/page-place.service.js';
import { PageTrail } from './pages/page-trail.service.js';
import { PanelSource } from './pages/panel-source.service.js';
import { ReferenceLists } from './pages/reference-lists.service.js';
import { PasswordHasher } from './crypto/password-hash.js';
import { SecretBox } from './crypto/secret-box.js';
import { RequestBodies } from './http/request-bodies.service.js';
import { StrangerBytes } from './http/stranger-bytes.service.js';
import { BodyInterceptor } from './rest/body.interceptor.js';
import { ErrorViews } from './rest/error-views.js';
import { ErrorsFilter } from './rest/errors.filter.js';
import { Idempotency } from './rest/idempotency.service.js';
import { IdempotencyKeysRepository } from './rest/idempotency-keys.repository.js';
import './json-columns.js';
import './rest/idempotency-table.js';
import { OptionsService } from './rest/options.service.js';
import { ReplyInterceptor } from './rest/reply.interceptor.js';
import { RouteTable } from './rest/route-table.service.js';
import { RepresentContexts } from './resource/represent-contexts.service.js';
import { ListService } from './list/list.service.js';
import { TextSamples } from './list/text-samples.service.js';
import { TextSearch } from './list/text-search.service.js';
import { PaginationInterceptor } from './list/pagination.interceptor.js';
import { GroupMember } from './processes/group-member.js';
import { BullQueuePort, bullQueues, bullRoot } from './queue/bull-queue.port.js';
import { BreakersRepository } from './outbound/breakers.repository.js';
import { Outbox } from './queue/outbox.service.js';
import { OutboxRepository } from './queue/outbox.repository.js';
import { QueuePort } from './queue/queue.port.js';
import { RedisConnection } from './queue/redis-connection.service.js';
import './queue/tables.js';
import { RateLimiter } from './rate/rate-limiter.service.js';
import { CommonServices } from './rest/common-services.service.js';
import { References } from './rest/references.service.js';
import { SecurityEvents } from './rest/security-events.service.js';
import { ResourceService } from './rest/resource.service.js';
import { VariablesInterceptor } from './rest/variables.interceptor.js';

const secretBox = (settings: Settings): SecretBox =>
  settings.SECRET_KEY_OLD === ''
    ? new SecretBox(settings.SECRET_KEY)
    : new SecretBox(settings.SECRET_KEY, settings.SECRET_KEY_OLD);

const shared = [
  { provide: SecretBox, inject: [Settings], useFactory: secretBox },
  { provide: PasswordHasher, useFactory: () => new PasswordHasher() },
  { provide: GroupMember, useFactory: () => GroupMember.join() },
  RedisConnection,
  RateLimiter,
  BullQueuePort,
  { provide: QueuePort, useExisting: BullQueuePort },
  OutboxRepository,
  Outbox,
  BreakersRepository,
  RequestBodies,
  StrangerBytes,
  RepresentContexts,
  ListService,
  TextSamples,
  TextSearch,
  References,
  ResourceService,
  CommonServices,
  SecurityEvents,
  RouteTable,
  OptionsService,
  IdempotencyKeysRepository,
  Idempotency,
];

const pages = [
  ...[ReferenceLists, Forms, PageForms, PagePanels, PanelSource, PageSections, PageRenderer],
  ...[PageTrail, PagePlace, BookmarkedObjects],
  { provide: ErrorViews, useClass: ErrorPages },
];

/** What every feature stands on. It knows none of them. */
@Global()
@Module({
  imports: [DiscoveryModule, bullRoot, bullQueues],
  providers: [
    ...shared,
    ...pages,
    { provide: APP_FILTER, useClass: ErrorsFilter },
    // From the outside in: who gets this far has the body read; a page for browsers shows the answer
    // that every other client gets; variables in the body are read; the answer has its status and headers; a list in it its envelope.
    { provide: APP_INTERCEPTOR, useClass: BodyInterceptor },
    { provide: APP_INTERCEPTOR, useClass: PageInterceptor },
    { provide: APP_INTERCEPTOR, useClass: VariablesInterceptor },
    { provide: APP_INTERCEPTOR, useClass: ReplyInterceptor },
    { provide: APP_INTERCEPTOR, useClass: PaginationInterceptor },
  ],
  exports: [...shared, ReferenceLists, PanelSource, BookmarkedObjects, DiscoveryModule, bullQueues],
})
export class CommonModule {}
