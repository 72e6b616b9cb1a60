import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Settings } from '../config/settings.js';
import { PasswordHasher } from './crypto/password-hash.js';
import { SecretBox } from './crypto/secret-box.js';
import { RequestBodies } from './http/request-bodies.service.js';
import { UnauthenticatedBytes } from './http/unauthenticated-bytes.service.js';
import { Idempotency } from './rest/idempotency.service.js';
import { IdempotencyKeysRepository } from './rest/idempotency-keys.repository.js';
import './json-columns.js';
import { OptionsService } from './rest/options.service.js';
import { RouteTable } from './rest/route-table.service.js';
import { DeclaredProviders } from './declared-providers.service.js';
import { RepresentContexts } from './resource/represent-contexts.service.js';
import { ListService } from './list/list.service.js';
import { TextSearch } from './list/text-search.service.js';
import { GroupMember } from './processes/group-member.js';
import { BullQueuePort, bullQueues, bullRoot } from './queue/bull-queue.port.js';
import { Outbox } from './queue/outbox.service.js';
import { OutboxRepository } from './queue/outbox.repository.js';
import { QueuePort } from './queue/queue.port.js';
import { RedisConnection } from './queue/redis-connection.service.js';
import { RateLimiter } from './rate/rate-limiter.service.js';
import { CommonServices } from './rest/common-services.service.js';
import { ReferenceLists } from './rest/reference-lists.service.js';
import { ReferencesService } from './rest/references.service.js';
import { SecurityEvents } from './rest/security-events.service.js';
import { ResourceRowsRepository } from './rest/resource-rows.repository.js';
import { ResourceService } from './rest/resource.service.js';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdempotencyKey } from './rest/idempotency-key.entity.js';
import { OutboxEntry } from './queue/outbox-entry.entity.js';

const secretBox = ({ SECRET_KEY, SECRET_KEY_OLD }: Settings): SecretBox =>
  new SecretBox(SECRET_KEY, SECRET_KEY_OLD);

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
  RequestBodies,
  UnauthenticatedBytes,
  DeclaredProviders,
  RepresentContexts,
  ListService,
  TextSearch,
  ReferenceLists,
  ReferencesService,
  ResourceRowsRepository,
  ResourceService,
  CommonServices,
  SecurityEvents,
  RouteTable,
  OptionsService,
  IdempotencyKeysRepository,
  Idempotency,
];

/** Services that all features use. Imports no feature. */
@Global()
@Module({
  imports: [
    TypeOrmModule.forFeature([IdempotencyKey, OutboxEntry]),
    DiscoveryModule,
    bullRoot,
    bullQueues,
  ],
  providers: shared,
  exports: [...shared, DiscoveryModule, bullQueues],
})
export class CommonModule {}
