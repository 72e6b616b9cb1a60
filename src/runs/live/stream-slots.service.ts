import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { TooManyRequests } from '../../common/errors/errors.js';
import { GroupMember } from '../../common/processes/group-member.js';
import { Settings } from '../../config/settings.js';

const RETRY_AFTER_SECONDS = 15;
const ALL_STREAMS = 'streams';

/** One open stream. */
export interface StreamSlot {
  /** Signal that aborts when the stream must end, for any reason. */
  signal: AbortSignal;
  free(): void;
}

/** Limits the number and duration of streams, and ends all streams at shutdown. */
@Injectable()
export class StreamSlots implements BeforeApplicationShutdown {
  private readonly open = new Set<AbortController>();
  private isStopping = false;

  constructor(
    private readonly settings: Settings,
    private readonly processes: GroupMember,
  ) {}

  /**
   * @param seconds maximum duration; null for a client that sends heartbeats
   * @throws TooManyRequests if the user, or all users together, have reached the maximum, or at shutdown
   */
  async take(
    userId: number,
    seconds: number | null = this.settings.STREAM_SECONDS,
  ): Promise<StreamSlot> {
    const own = `streams of ${userId}`;
    const isTaken = !this.isStopping && (await this.takeBoth(own));
    if (!isTaken) throw new TooManyRequests(RETRY_AFTER_SECONDS);
    const controller = new AbortController();
    // Behind a proxy a disconnected client can remain unnoticed, so each client must reconnect
    // regularly.
    const timer =
      seconds === null ? undefined : setTimeout(() => controller.abort(), seconds * 1000);
    this.open.add(controller);
    return {
      signal: controller.signal,
      free: () => {
        if (!this.open.delete(controller)) return;
        clearTimeout(timer);
        controller.abort();
        for (const key of [ALL_STREAMS, own]) this.processes.free(key);
      },
    };
  }

  private async takeBoth(own: string): Promise<boolean> {
    const { STREAMS_PER_USER, STREAMS_MAX } = this.settings;
    if (!(await this.processes.take(ALL_STREAMS, STREAMS_MAX))) return false;
    if (await this.processes.take(own, STREAMS_PER_USER)) return true;
    this.processes.free(ALL_STREAMS);
    return false;
  }

  /** Ends all streams before the server closes, because the server waits for open connections. */
  beforeApplicationShutdown(): void {
    this.isStopping = true;
    for (const controller of this.open) controller.abort();
  }
}
