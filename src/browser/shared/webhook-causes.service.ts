import { Injectable } from '@nestjs/common';
import { RunDeliveries } from '../../runs/run-causes.js';
import type { Item } from './value-views.js';

/** Replaces the launching template of webhook runs by the webhook event. */
@Injectable()
export class WebhookCauses {
  constructor(private readonly deliveries: RunDeliveries) {}

  /** Returns the items; `launched_by` of webhook runs has a name such as "push to main by octo". */
  async withEventNames(items: readonly Item[]): Promise<readonly Item[]> {
    const ids = items.filter(isOfWebhook).map(({ id }) => Number(id));
    if (ids.length === 0) return items;
    const events = new Map(
      (await this.deliveries.ofRuns(ids, null)).flatMap(
        ({ run_id: run, event, ref_name: ref, sender }) => {
          const to = ref === null ? '' : ` to ${ref.replace(/^refs\/(?:heads|tags)\//, '')}`;
          const by = sender === null ? '' : ` by ${sender}`;
          return event === '' ? [] : [[run, event + to + by] as const];
        },
      ),
    );
    return items.map((item) => {
      const name = isOfWebhook(item) ? events.get(Number(item.id)) : undefined;
      return name === undefined ? item : { ...item, launched_by: { name } };
    });
  }
}

const isOfWebhook = ({ launch_type: type }: Item): boolean => type === 'webhook';
