import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { TooManyRequests } from '../../common/errors/errors.js';
import { GroupMember } from '../../common/processes/group-member.js';
import { Settings } from '../../config/settings.js';

const RETRY_AFTER_SECONDS = 15;
const ALL = 'streams';

/** One open stream. */
export interface StreamSlot {
  /** Aborted when the stream has to end, whatever the reason. */
  signal: AbortSignal;
  free(): void;
}

/** Bounds how many streams are open and for how long, and ends them all at shutdown. */
@Injectable()
export class StreamSlots implements BeforeApplicationShutdown {
  private readonly open = new Set<AbortController>();
  private isStopping = false;

  constructor(
    private readonly settings: Settings,
    private readonly processes: GroupMember,
  ) {}

  /** @throws TooManyRequests when the user, or all users together, have as many as there may be */
  async take(userId: number): Promise<StreamSlot> {
    const own = `streams of ${userId}`;
    const isTaken = !this.isStopping && (await this.takeBoth(own));
    if (!isTaken) throw new TooManyRequests(RETRY_AFTER_SECONDS);
    const controller = new AbortController();
    // Behind a proxy a client that left may go unnoticed, so each has to come again.
    const timer = setTimeout(() => controller.abort(), this.settings.STREAM_SECONDS * 1000);
    this.open.add(controller);
    return {
      signal: controller.signal,
      free: () => {
        if (!this.open.delete(controller)) return;
        clearTimeout(timer);
        controller.abort();
        for (const key of [ALL, own]) this.processes.free(key);
      },
    };
  }

  private async takeBoth(own: string): Promise<boolean> {
    const { STREAMS_PER_USER, STREAMS_MAX } = this.settings;
    if (!(await this.processes.take(ALL, STREAMS_MAX))) return false;
    if (await this.processes.take(own, STREAMS_PER_USER)) return true;
    this.processes.free(ALL);
    return false;
  }

  /** The server waits for open connections, so streams end before it closes. */
  beforeApplicationShutdown(): void {
    this.isStopping = true;
    for (const controller of this.open) controller.abort();
  }
}
