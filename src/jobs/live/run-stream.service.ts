import { Injectable } from '@nestjs/common';
import type { ApiRequest } from '../../common/http/request.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import { ResourceService } from '../../common/resource/resource.service.js';
import { Settings } from '../../config/settings.js';
import { sql } from '../../database/sql.js';
import { listJobEvents } from '../job-event-list.js';
import { isFinal } from '../state-machine.js';
import type { JobStatus } from '../unified-job.schema.js';
import type { EventStream } from './event-stream.js';
import { RunNewsFeed } from './run-news-feed.js';

/** How long a message of a worker may be lost before its news are found all the same. */
const POLL_MS = 3000;
const KEEP_ALIVE_MS = 15_000;
/** Events held in memory at once. */
const BATCH = '100';

/** One client that follows one run. */
export interface Follower {
  definition: ResourceDefinition;
  request: ApiRequest;
  /** Counter of the last event the client has. */
  after: number;
  stream: EventStream;
  /** Aborted when the stream has to end. */
  signal: AbortSignal;
}

/** Sends what happens in a run while it happens (decision 35). */
@Injectable()
export class RunStreamService {
  constructor(
    private readonly resources: ResourceService,
    private readonly feed: RunNewsFeed,
    private readonly settings: Settings,
  ) {}

  /**
   * Sends new events and statuses until the run is over and everything is sent. Each look at the run
   * asks for the permission again: a role that is taken away ends the stream.
   */
  async follow(run: Row, follower: Follower): Promise<void> {
    const watch = this.feed.watch(run.id);
    try {
      await this.rounds(run, follower, (signal) => watch.next(POLL_MS, signal));
    } finally {
      watch.close();
    }
  }

  private async rounds(
    first: Row,
    follower: Follower,
    news: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const { stream, signal, definition, request } = follower;
    let { after } = follower;
    let told = '';
    let lastSent = Date.now();
    for (let run = first; !signal.aborted;) {
      const status = String(run.status);
      // The status is older than the events that follow: a final one means that they are the last.
      const isOver = isFinal(status as JobStatus);
      const isNews = status !== told;
      if (isNews && !isOver) await stream.send(statusOf(run));
      const sent = await this.sendEvents(run.id, after, follower);
      if (signal.aborted) return;
      if (isOver) {
        await stream.send(statusOf(run));
        await stream.send({ event: 'end', data: { status } });
        return;
      }
      if (isNews || sent !== after) lastSent = Date.now();
      told = status;
      after = sent;
      await news(signal);
      if (Date.now() - lastSent >= KEEP_ALIVE_MS) {
        await stream.keepAlive();
        lastSent = Date.now();
      }
      if (signal.aborted) return;
      run = await this.resources.load(definition, run.id, request.actor);
    }
  }

  /** @returns counter of the last event that was sent */
  private async sendEvents(runId: number, from: number, follower: Follower): Promise<number> {
    const { request, stream, signal } = follower;
    const { no_truncate } = request.query;
    const query = {
      page_size: BATCH,
      count_disabled: '1',
      ...(no_truncate === undefined ? {} : { no_truncate }),
    };
    let after = from;
    while (!signal.aborted) {
      const { results, hasNext } = await listJobEvents(
        this.resources,
        { query, actor: request.actor },
        this.settings.EVENT_STDOUT_MAX_BYTES_DISPLAY,
        {
          scope: sql`t.job_id = ${runId} AND t.counter > ${after}`,
          visible: sql`TRUE`,
          orderBy: ['counter'],
        },
      );
      for (const event of results) {
        after = event.counter as number;
        await stream.send({ event: 'job_event', id: after, data: event });
      }
      if (!hasNext) return after;
    }
    return after;
  }
}

const statusOf = ({ id, status, failed, started, finished, elapsed, job_explanation }: Row) => ({
  event: 'status',
  data: { id, status, failed, started, finished, elapsed, job_explanation },
});
