import { Injectable } from '@nestjs/common';
import { or, type Sql } from '../database/sql.js';
import { hasUnfinished } from '../notifications/notifications.repository.js';
import { retentionOfOrganizations } from '../organizations/organizations.repository.js';
import { EventPartitionsRepository } from '../runs/events/event-partitions.repository.js';
import { JobEventsRepository } from '../runs/events/job-events.repository.js';
import { JobHostSummariesRepository } from '../runs/events/job-host-summaries.repository.js';
import { OldRunsRepository } from '../runs/old-runs.repository.js';
import { inBatches, type Removal } from '../system-jobs/cleanups.js';
import { hasUnsentPosts } from '../webhooks/status-posts.repository.js';

/** Number of runs per page; a page is read by one statement. */
const PAGE_SIZE = 1000;
/** Number of runs that are deleted by one statement, after their events and host summaries. */
const BATCH_SIZE = 100;

const START = { id: 0, created: '-infinity' };

/** Returns the SQL condition that a notification or a status post of a run is still to be sent. */
const isNeeded = (run: Sql): Sql => or(hasUnfinished(run), hasUnsentPosts(run));

/** Removes runs that are past their retention (docs/contract/system-jobs.md#jobs). */
@Injectable()
export class OldRuns {
  constructor(
    private readonly runs: OldRunsRepository,
    private readonly events: JobEventsRepository,
    private readonly summaries: JobHostSummariesRepository,
    private readonly partitions: EventPartitionsRepository,
  ) {}

  olderThan(days: number): Removal {
    return {
      objects: 'jobs',
      count: () => this.count(days),
      batches: () => this.batches(days),
    };
  }

  private async count(days: number): Promise<number> {
    let total = 0;
    for await (const ids of this.pages(days)) total += ids.length;
    return total;
  }

  private async *batches(days: number): AsyncGenerator<number> {
    for await (const page of this.pages(days)) {
      for (let start = 0; start < page.length; start += BATCH_SIZE)
        yield* this.remove(page.slice(start, start + BATCH_SIZE));
    }
    while (await this.partitions.dropEmpty()) yield 0;
  }

  /** Deletes events and host summaries first, because a run can have a million events. */
  private async *remove(ids: readonly number[]): AsyncGenerator<number> {
    for (const parts of [this.events, this.summaries]) {
      const batches = inBatches((limit) => parts.removeOf(ids, limit));
      while (!(await batches.next()).done) yield 0;
    }
    yield await this.runs.removeRuns(ids);
  }

  /** Yields the ids of removable runs, page by page. */
  private async *pages(days: number): AsyncGenerator<number[]> {
    const overrides = await this.runs.retentionOverrides(retentionOfOrganizations());
    const rules = { days, overrides, isNeeded };
    for (let last: typeof START | undefined = START; last;) {
      const page = await this.runs.after(last, rules, PAGE_SIZE);
      yield page.flatMap(({ id, isRemovable }) => (isRemovable ? [id] : []));
      last = page.length === PAGE_SIZE ? page.at(-1) : undefined;
    }
  }
}
