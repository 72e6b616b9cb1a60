import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { TooManyRequests } from '../../common/errors/errors.js';
import { Settings } from '../../config/settings.js';

const RETRY_AFTER_SECONDS = 15;

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

  constructor(private readonly settings: Settings) {}

  /** @throws TooManyRequests when the user, or all users together, have as many as there may be */
  take(userId: number): StreamSlot {
    const { STREAMS_PER_USER, STREAMS_MAX, STREAM_SECONDS } = this.settings;
    const own = [...this.open.values()].filter((one) => one === userId).length;
    if (this.isStopping || own >= STREAMS_PER_USER || this.open.size >= STREAMS_MAX) {
      throw new TooManyRequests(RETRY_AFTER_SECONDS);
    }
    const controller = new AbortController();
    // After this long the client has to come again, so that it has to prove anew who it is.
    const timer = setTimeout(() => controller.abort(), STREAM_SECONDS * 1000);
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

  /** The server waits for open connections, so streams end before it closes. */
  beforeApplicationShutdown(): void {
    this.isStopping = true;
    for (const controller of this.open.keys()) controller.abort();
  }
}
