import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { messageOf } from '../common/errors/message-of.js';
import type { UnprovedRequests } from './delivery.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';

const FLUSH_MS = 1000;

/** A request that proved nothing, and what it was answered. */
export type UnprovedRequest = Omit<UnprovedRequests, 'repeats'>;

/**
 * Records requests without proof of the webhook key. Anybody can send those, so they must fill
 * neither the table nor the database's time: they are counted here, and at most one record for each
 * template, service and answer is written in a second, whatever the number of processes. A process
 * that dies loses the counts of its last second and nothing else.
 */
@Injectable()
export class RejectionLog implements OnModuleDestroy {
  private readonly logger = new Logger('Webhooks');
  private readonly counted = new Map<string, UnprovedRequests>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly deliveries: WebhookDeliveriesRepository) {}

  /** Counts a request; the record shows the newest of those it stands for. */
  count(request: UnprovedRequest): void {
    const key = `${request.templateId}:${request.service}:${request.verdict}`;
    const repeats = (this.counted.get(key)?.repeats ?? 0) + 1;
    this.counted.set(key, { ...request, repeats });
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes what was counted so far. Never fails: a record is not worth more than the service. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const rows = [...this.counted.values()];
    this.counted.clear();
    if (rows.length > 0) {
      this.writing = this.writing
        .then(() => this.deliveries.countUnproved(rows))
        .catch((error: unknown) => {
          const reason = messageOf(error);
          this.logger.warn({ message: 'rejected deliveries not recorded', reason });
        });
    }
    return this.writing;
  }

  onModuleDestroy(): Promise<void> {
    return this.flush();
  }
}
