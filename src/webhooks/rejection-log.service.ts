import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { messageOf } from '../common/errors/errors.js';
import type { UnverifiedRequests } from './delivery.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';

const FLUSH_MS = 1000;

/** An unverified request and its response. */
export type UnverifiedRequest = Omit<UnverifiedRequests, 'repeats'>;

/**
 * Records requests that did not prove knowledge of the webhook key. Every client can send such
 * requests, so they must not fill the table or keep the database busy. The requests are counted in memory,
 * and at most one record per second is written for each template, service and verdict, independent
 * of the number of processes. A process that crashes loses only the counts of its last second.
 */
@Injectable()
export class RejectionLog implements OnModuleDestroy {
  private readonly logger = new Logger('Webhooks');
  private readonly counted = new Map<string, UnverifiedRequests>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly deliveries: WebhookDeliveriesRepository) {}

  /** Counts a request, and keeps the values of the newest request. */
  count(request: UnverifiedRequest): void {
    const key = `${request.templateId}:${request.service}:${request.verdict}`;
    const repeats = (this.counted.get(key)?.repeats ?? 0) + 1;
    this.counted.set(key, { ...request, repeats });
    this.timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes the counts. Logs a failure and does not repeat the write. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const rows = [...this.counted.values()];
    this.counted.clear();
    if (rows.length > 0) {
      this.writing = this.writing
        .then(() => this.deliveries.countUnverified(rows))
        .catch((error: unknown) => {
          this.logger.warn({
            message: 'rejected deliveries not recorded',
            reason: messageOf(error),
          });
        });
    }
    return this.writing;
  }

  onModuleDestroy(): Promise<void> {
    return this.flush();
  }
}
