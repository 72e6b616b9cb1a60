import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../config/settings.js';
import { VERSION } from '../config/version.js';
import { Breaker } from './breaker.entity.js';
import { BreakersRepository } from './breakers.repository.js';
import { CircuitBreaker } from './circuit-breaker.service.js';
import { OutboundClient } from './outbound-client.js';

const USER_AGENT = `automation-controller ${VERSION}`;

/** Outbound calls of all features: the HTTP client and the circuit breaker. */
@Module({
  imports: [TypeOrmModule.forFeature([Breaker])],
  providers: [
    {
      provide: OutboundClient,
      inject: [Settings],
      useFactory: ({ OUTBOUND_ALLOW }: Settings) =>
        new OutboundClient({ allow: OUTBOUND_ALLOW, userAgent: USER_AGENT }),
    },
    BreakersRepository,
    CircuitBreaker,
  ],
  exports: [OutboundClient, BreakersRepository, CircuitBreaker],
})
export class OutboundModule {}
