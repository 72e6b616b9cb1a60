import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { VERSION } from '../../config/version.js';
import { CircuitBreaker } from './circuit-breaker.service.js';
import { OutboundClient } from './outbound-client.js';

const USER_AGENT = `automation-controller ${VERSION}`;

/** Closes the process's one client; pending calls are given up then. */
@Injectable()
class OutboundLifetime implements OnApplicationShutdown {
  constructor(private readonly client: OutboundClient) {}

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }
}

/** The way out of the process, one for all features: the client and what keeps it off dead ends. */
@Module({
  providers: [
    {
      provide: OutboundClient,
      inject: [Settings],
      useFactory: ({ OUTBOUND_ALLOW }: Settings) =>
        new OutboundClient({ allow: OUTBOUND_ALLOW, userAgent: USER_AGENT }),
    },
    OutboundLifetime,
    CircuitBreaker,
  ],
  exports: [OutboundClient, CircuitBreaker],
})
export class OutboundModule {}
