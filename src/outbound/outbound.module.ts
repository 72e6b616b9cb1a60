import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../config/settings.js';
import { VERSION } from '../config/version.js';
import { Breaker } from './breaker.entity.js';
import { BreakersRepository } from './breakers.repository.js';
import { CircuitBreaker } from './circuit-breaker.service.js';
import { OutboundClient } from './outbound-client.js';

const USER_AGENT = `automation-controller ${VERSION}`;

/** Closes the process's client at shutdown; pending calls are aborted. */
@Injectable()
class OutboundLifetime implements OnApplicationShutdown {
  constructor(private readonly client: OutboundClient) {}

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }
}

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
    OutboundLifetime,
    BreakersRepository,
    CircuitBreaker,
  ],
  exports: [OutboundClient, BreakersRepository, CircuitBreaker],
})
export class OutboundModule {}
