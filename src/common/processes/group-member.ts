import cluster from 'node:cluster';
import { AggregatorRegistry, Registry } from 'prom-client';
import { Slots } from './slots.js';

/** Metrics of one process in the format that prom-client exports and aggregates. */
export type Metrics = object[];

/** Message from a member of a process group to the process that forked it. */
export type MemberMessage =
  | { kind: 'take'; id: number; key: string; max: number }
  | { kind: 'free'; key: string }
  | { kind: 'gather'; id: number }
  | { kind: 'measured'; id: number; metrics: Metrics };

/** Message to a member of a process group. */
export type GroupMessage =
  | { kind: 'taken'; id: number; isTaken: boolean }
  | { kind: 'measure'; id: number }
  | { kind: 'gathered'; id: number; metrics: Metrics[] };

const isOurs = (message: unknown): boolean =>
  typeof message === 'object' && message !== null && 'kind' in message;

/** Identifies the messages of this program: libraries use the same channel. */
export const isMemberMessage = (message: unknown): message is MemberMessage => isOurs(message);
const isGroupMessage = (message: unknown): message is GroupMessage => isOurs(message);

/** This process of the API: the only one, or one of several on the same port. */
export abstract class GroupMember {
  /** Metrics of this process alone, such as its refused requests. */
  readonly measured = new Registry();

  /**
   * Takes one of the `max` slots that all processes share.
   *
   * @returns false if no slot was free
   */
  abstract take(key: string, max: number): Promise<boolean>;

  /** Frees a slot that {@link take} took. */
  abstract free(key: string): void;

  /** Returns the metrics of all processes. */
  abstract gather(): Promise<Registry>;

  static join(): GroupMember {
    return cluster.isWorker ? new ForkedProcess() : new OnlyProcess();
  }
}

class OnlyProcess extends GroupMember {
  private readonly slots = new Slots<this>();

  take(key: string, max: number): Promise<boolean> {
    return Promise.resolve(this.slots.take(this, key, max));
  }

  free(key: string): void {
    this.slots.free(this, key);
  }

  gather(): Promise<Registry> {
    return Promise.resolve(this.measured);
  }
}

/**
 * Member of a group. Delegates to the parent process. If the parent process ends, Node ends this process.
 */
class ForkedProcess extends GroupMember {
  private readonly takes = new Map<number, (isTaken: boolean) => void>();
  private readonly gatherings = new Map<number, (metrics: Metrics[]) => void>();
  private lastId = 0;

  constructor() {
    super();
    process.on('message', (message: unknown) => {
      if (isGroupMessage(message)) this.receive(message);
    });
  }

  take(key: string, max: number): Promise<boolean> {
    return new Promise((resolve) => {
      const id = (this.lastId += 1);
      this.takes.set(id, resolve);
      send({ kind: 'take', id, key, max });
    });
  }

  free(key: string): void {
    send({ kind: 'free', key });
  }

  async gather(): Promise<Registry> {
    const metrics = await new Promise<Metrics[]>((resolve) => {
      const id = (this.lastId += 1);
      this.gatherings.set(id, resolve);
      send({ kind: 'gather', id });
    });
    return AggregatorRegistry.aggregate(metrics);
  }

  private receive(message: GroupMessage): void {
    switch (message.kind) {
      case 'taken':
        settle(this.takes, message.id, message.isTaken);
        break;
      case 'gathered':
        settle(this.gatherings, message.id, message.metrics);
        break;
      case 'measure':
        void this.measured.getMetricsAsJSON().then((metrics) => {
          send({ kind: 'measured', id: message.id, metrics });
        });
    }
  }
}

function settle<T>(waiting: Map<number, (value: T) => void>, id: number, value: T): void {
  waiting.get(id)?.(value);
  waiting.delete(id);
}

function send(message: MemberMessage): void {
  if (process.connected) process.send?.(message);
}
