import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { messageOf } from '../../common/errors/message-of.js';
import { Forbidden, NotFound } from '../../common/errors/errors.js';
import type { Actor } from '../../common/access.js';
import type { ResourceDefinition, Row } from '../../common/resource/define-resource.js';
import { ResourceService } from '../../common/rest/resource.service.js';
import { isFinal } from '../state-machine.js';
import { EventStream } from './event-stream.js';
import { RunNewsFeed } from './run-news-feed.service.js';
import { StreamSlots } from './stream-slots.service.js';

const KEEP_ALIVE_MS = 15_000;

/** Sends what is new of a run besides its status. @returns whether there was anything */
export type NewsSender = (stream: EventStream, signal: AbortSignal) => Promise<boolean>;

/** One client that follows one run. */
export interface Following {
  definition: ResourceDefinition;
  run: Row;
  actor: Actor;
  response: Response;
  sender: NewsSender;
  /** How long a message of a worker may be lost, or not be sent, before its news are found anyway. */
  patienceMs: number;
}

/** Sends what happens in a run while it happens, as server-sent events. */
@Injectable()
export class RunStreams {
  private readonly logger = new Logger('Live');

  constructor(
    private readonly resources: ResourceService,
    private readonly feed: RunNewsFeed,
    private readonly slots: StreamSlots,
  ) {}

  /** Answers a request with a stream that ends with the run. */
  async serve(following: Following): Promise<void> {
    const { actor, response, run } = following;
    const slot = await this.slots.take(actor.id);
    if (response.closed) slot.free();
    else response.once('close', slot.free);
    const stream = new EventStream(response, slot.signal);
    stream.open();
    try {
      if (response.req.method !== 'HEAD') {
        await stream.begin();
        await this.follow(following, stream, slot.signal);
      }
    } catch (error) {
      // The head is sent: what can be done is to end, and the client comes again and is told why.
      if (!(error instanceof Forbidden || error instanceof NotFound)) {
        const reason = messageOf(error);
        this.logger.warn({ message: 'stream ended', run: run.id, reason });
      }
    } finally {
      response.end();
      slot.free();
    }
  }

  /**
   * Sends news and statuses until the run is over and everything is sent. Each look at the run asks
   * for the permission again: a role that is taken away ends the stream.
   */
  private async follow(
    { definition, run: first, actor, sender, patienceMs }: Following,
    stream: EventStream,
    signal: AbortSignal,
  ): Promise<void> {
    const watch = this.feed.watch(first.id);
    let told = '';
    let lastSent = Date.now();
    try {
      for (let run = first; !signal.aborted;) {
        const status = String(run.status);
        // The status is older than the news that follow: a final one means that they are the last.
        const isOver = isFinal(status);
        const isNews = status !== told;
        if (isNews && !isOver) await stream.send(statusOf(run));
        const wasSent = await sender(stream, signal);
        if (signal.aborted) return;
        if (isOver) {
          await stream.send(statusOf(run));
          await stream.send({ event: 'end', data: { status } });
          return;
        }
        if (isNews || wasSent) lastSent = Date.now();
        told = status;
        await watch.next(patienceMs, signal);
        if (Date.now() - lastSent >= KEEP_ALIVE_MS) {
          await stream.keepAlive();
          lastSent = Date.now();
        }
        if (signal.aborted) return;
        run = await this.resources.load(definition, run.id, actor);
      }
    } finally {
      watch.close();
    }
  }
}

const statusOf = ({ id, status, failed, started, finished, elapsed, job_explanation }: Row) => ({
  event: 'status',
  data: { id, status, failed, started, finished, elapsed, job_explanation },
});
