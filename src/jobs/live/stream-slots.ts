import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { TooManyRequests } from '../../common/http/errors.js';

/** Open streams of one user and of all users, in one process: each holds a connection. */
export const STREAMS_PER_USER = 10;
const STREAMS_IN_ALL = 500;
const RETRY_AFTER_SECONDS = 15;
/** After this long the client has to come again, so that it has to prove anew who it is. */
const MAX_STREAM_MS = 10 * 60_000;

/** One open stream. */
export interface StreamSlot {
  /** Aborted when the stream has to end, whatever the reason. */
  signal: AbortSignal;
  free(): void;
}

/** Bounds how many streams are open and for how long, and ends them all at shutdown. */
@Injectable()
export class StreamSlots implements BeforeApplicationShutdown {
  private readonly open = new Map<AbortController, number>();
  private isStopping = false;

  /** @throws TooManyRequests when the user, or all users together, have as many as there may be */
  take(userId: number): StreamSlot {
    const own = [...this.open.values()].filter((one) => one === userId).length;
    if (this.isStopping || own >= STREAMS_PER_USER || this.open.size >= STREAMS_IN_ALL) {
      throw new TooManyRequests(RETRY_AFTER_SECONDS);
    }
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), MAX_STREAM_MS);
    this.open.set(controller, userId);
    return {
      signal: controller.signal,
      free: () => {
        clearTimeout(timer);
        this.open.delete(controller);
        controller.abort();
      },
    };
  }

  /** The server waits for open connections, so streams end before it closes (R7). */
  beforeApplicationShutdown(): void {
    this.isStopping = true;
    for (const controller of this.open.keys()) controller.abort();
  }
}
