import cluster, { type Worker } from 'node:cluster';
import type { LoggerService } from '@nestjs/common';
import { SETTINGS, type Settings } from '../../config/settings.js';
import {
  isMemberMessage,
  type GroupMessage,
  type MemberMessage,
  type Metrics,
} from './group-member.js';
import { Slots } from './slots.js';

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** Time after which a member that has not sent its metrics is omitted. */
const MAX_WAIT_MS = 2000;

/** Settings with limits for the whole API, which are divided among the processes. */
const SHARED = ['DATABASE_POOL_SIZE', 'UNAUTHENTICATED_BYTES_MAX'] as const;

/** Metrics that one member requested. */
interface Gathering {
  missing: Set<Worker>;
  metrics: Metrics[];
  done: () => void;
}

/**
 * Keeps the configured number of API processes running on one port, with Node's cluster
 * (docs/decisions/0076-api-processes.md). This process serves no requests: it counts the
 * connections and streams that are limited for all processes together, gathers metrics, and forwards signals.
 */
export class ProcessGroup {
  private readonly slots = new Slots<Worker>();
  private readonly gatherings = new Map<number, Gathering>();
  private lastGatheringId = 0;
  private failures = 0;
  private hasServed = false;
  private isStopping = false;

  constructor(
    private readonly settings: Settings,
    private readonly logger: LoggerService,
  ) {}

  start(): void {
    cluster.on('message', (member, message: unknown) => {
      if (isMemberMessage(message)) this.receive(member, message);
    });
    cluster.on('listening', () => {
      this.hasServed = true;
      this.failures = 0;
    });
    cluster.on('exit', (member, code, signal) => this.handleExit(member, code, signal));
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => this.stop(signal));
    for (let count = 0; count < this.settings.WEB_CONCURRENCY; count += 1) this.fork();
  }

  private fork(): void {
    if (this.isStopping) return;
    const member = cluster.fork(shareOf(this.settings));
    // A message to a member that has just been killed fails; the exit of the member follows.
    member.on('error', () => undefined);
    closeUnacceptedHandle(member);
  }

  private stop(signal: NodeJS.Signals): void {
    this.isStopping = true;
    for (const member of this.members()) member.process.kill(signal);
  }

  private handleExit(member: Worker, code: number | null, signal: string | null): void {
    this.slots.freeAll(member);
    for (const gathering of this.gatherings.values()) this.collect(gathering, member);
    if (this.isStopping) return;
    if (!this.hasServed) {
      // No process could start: the log contains the reason, and another attempt would not help.
      process.exitCode = code || 1;
      this.stop('SIGTERM');
      return;
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.failures, LONGEST_PAUSE_MS);
    this.failures += 1;
    this.logger.error({ message: 'process ended', code, signal, pauseMs }, 'Process');
    setTimeout(() => this.fork(), pauseMs);
  }

  private receive(member: Worker, message: MemberMessage): void {
    switch (message.kind) {
      case 'take': {
        const { id, key, max } = message;
        send(member, { kind: 'taken', id, isTaken: this.slots.take(member, key, max) });
        break;
      }
      case 'free':
        this.slots.free(member, message.key);
        break;
      case 'gather':
        this.gather(member, message.id);
        break;
      case 'measured': {
        const gathering = this.gatherings.get(message.id);
        if (gathering) this.collect(gathering, member, message.metrics);
      }
    }
  }

  private gather(requester: Worker, requestId: number): void {
    const id = (this.lastGatheringId += 1);
    const metrics: Metrics[] = [];
    const timer = setTimeout(() => gathering.done(), MAX_WAIT_MS);
    const gathering: Gathering = {
      missing: new Set(this.members()),
      metrics,
      done: () => {
        clearTimeout(timer);
        this.gatherings.delete(id);
        send(requester, { kind: 'gathered', id: requestId, metrics });
      },
    };
    this.gatherings.set(id, gathering);
    for (const member of gathering.missing) send(member, { kind: 'measure', id });
  }

  private collect({ missing, metrics, done }: Gathering, member: Worker, received?: Metrics): void {
    if (!missing.delete(member)) return;
    if (received) metrics.push(received);
    if (missing.size === 0) done();
  }

  private members(): Worker[] {
    return Object.values(cluster.workers ?? {}).filter((member) => member !== undefined);
  }
}

/** Returns each process's share of the limits for the whole API, as environment variables. */
function shareOf(settings: Settings): Record<string, string> {
  const shares = SHARED.map((name): [name: string, share: number] => {
    const { min = 1 } = SETTINGS[name];
    return [name, Math.max(min, Math.floor(settings[name] / settings.WEB_CONCURRENCY))];
  });
  return Object.fromEntries(shares.map(([name, share]) => [name, String(share)]));
}

/**
 * Closes a connection that was passed to a member and not accepted before the member was killed. Node
 * would keep the connection open, so that its client waits forever. There is at most one such connection:
 * the next connection is passed only after the previous connection was accepted. In this process, closing
 * an accepted connection has no effect.
 */
function closeUnacceptedHandle({ process: child }: Worker): void {
  let handle: { close(): void } | undefined;
  child.send = new Proxy(child.send, {
    apply(send, _child, sent: [message: unknown, handle?: { close(): void }]) {
      handle = sent[1] ?? handle;
      return Boolean(Reflect.apply(send, child, sent));
    },
  });
  child.once('exit', () => handle?.close());
}

function send(member: Worker, message: GroupMessage): void {
  if (member.isConnected()) member.send(message);
}
