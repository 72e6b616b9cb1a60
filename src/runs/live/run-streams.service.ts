import { Injectable, Logger } from '@nestjs/common';
import type { Response } from 'express';
import { DomainError, messageOf } from '../../common/errors/errors.js';
import type { Actor } from '../../common/access.js';
import type { Row } from '../../common/resource/define-resource.js';
import type { Reauthorize } from '../../common/rest/parameters.js';
import { isFinal } from '../state-machine.js';
import { EventStream } from './event-stream.js';
import { RunSignalFeed } from './run-signal-feed.service.js';
import { StreamSlots } from './stream-slots.service.js';

const KEEP_ALIVE_MS = 15_000;

/** Share of the available changes that a sender has sent. */
export type Sent = 'nothing' | 'some' | 'all';

/** Sends the changes of a run except its status, a limited part at a time. */
export type StreamSender = (
  stream: EventStream,
  signal: AbortSignal,
  actor: Actor,
) => Promise<Sent>;

/** One client that follows one run. */
export interface StreamRequest {
  run: Row;
  actor: Actor;
  reauthorize: Reauthorize;
  response: Response;
  sender: StreamSender;
  /** Time after which the database is checked even without a message from a worker, in ms. */
  maxWaitMs: number;
}

/** Sends the events of a run as they occur, as server-sent events. */
@Injectable()
export class RunStreams {
  private readonly logger = new Logger('Live');

  constructor(
    private readonly feed: RunSignalFeed,
    private readonly slots: StreamSlots,
  ) {}

  /** Responds with a stream that ends when the run ends. */
  async serve(request: StreamRequest): Promise<void> {
    const { actor, response, run } = request;
    const slot = await this.slots.take(actor.id);
    if (response.closed) slot.free();
    else response.once('close', slot.free);
    const stream = new EventStream(response, slot.signal);
    stream.open();
    try {
      if (response.req.method !== 'HEAD') {
        await stream.begin();
        await this.follow(request, stream, slot.signal);
      }
    } catch (error) {
      // The response header is already sent, so the stream can only be closed. When the client
      // reconnects, the response contains the reason.
      if (!(error instanceof DomainError)) {
        const reason = messageOf(error);
        this.logger.warn({ message: 'stream ended', run: run.id, reason });
      }
    } finally {
      response.end();
      slot.free();
    }
  }

  /**
   * Sends changes and statuses until the run has ended and everything is sent. Each iteration
   * authenticates the caller and checks the permission again, so a deleted token or a revoked role
   * ends the stream.
   */
  private async follow(
    { run, actor, reauthorize, sender, maxWaitMs }: StreamRequest,
    stream: EventStream,
    signal: AbortSignal,
  ): Promise<void> {
    const watch = this.feed.watch(run.id);
    let lastStatus = '';
    let lastSent = Date.now();
    try {
      for (let current = { actor, target: run }; !signal.aborted; current = await reauthorize()) {
        const status = String(current.target.status);
        // The status was read before the changes, so a final status means that the following changes are
        // the last.
        const isOver = isFinal(status);
        const isChanged = status !== lastStatus;
        if (isChanged && !isOver) await stream.send(statusOf(current.target));
        const sent = await sender(stream, signal, current.actor);
        if (signal.aborted) return;
        if (isChanged || sent !== 'nothing') lastSent = Date.now();
        if (!isOver) lastStatus = status;
        if (sent === 'some') continue;
        if (isOver) {
          await stream.send(statusOf(current.target));
          await stream.send({ event: 'end', data: { status } });
          return;
        }
        await watch.next(maxWaitMs, signal);
        if (Date.now() - lastSent >= KEEP_ALIVE_MS) {
          await stream.keepAlive();
          lastSent = Date.now();
        }
        if (signal.aborted) return;
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
