import { Injectable, SetMetadata } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { memberOf } from '../common/records.js';
import type { JobStatus } from './unified-job.schema.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

const LISTENS = 'controller:listens-to-runs';

/** A run that came into a status, in the transaction that brought it there. */
export interface RunChange {
  jobId: number;
  /** Kind of run: `job`, `project_update`. */
  type: string;
  status: JobStatus;
  /** Code host that is told of it; without it nobody is. */
  reportsTo?: string | null;
  /** It ended because a newer run took its place. */
  isReplaced?: boolean;
}

/**
 * Told of every change of status, inside its transaction: whatever must follow is written as rows
 * there and then. A listener that throws undoes the change, so it only ever writes.
 */
export interface RunListener {
  runsChanged(changes: readonly RunChange[]): Promise<void>;
}

/** Makes a provider a listener. Notifications and status posts hang on runs this way. */
export const ListensToRuns = (): ClassDecorator => SetMetadata(LISTENS, true);

/** Tells the listeners. The only link from runs to what depends on them. */
const isListener = (value: unknown): value is RunListener =>
  typeof memberOf(value, 'runsChanged') === 'function';

@Injectable()
export class RunChanges {
  private listeners: readonly RunListener[] | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
  ) {}

  async publish(changes: readonly RunChange[]): Promise<void> {
    if (changes.length === 0) return;
    this.listeners ??= this.discovery
      .getProviders()
      .filter(({ instance, metatype }) => instance && metatype && this.listens(metatype))
      .map(({ instance }): unknown => instance)
      .filter(isListener);
    for (const listener of this.listeners) await listener.runsChanged(changes);
  }

  private listens(metatype: NonNullable<InstanceWrapper['metatype']>): boolean {
    return this.reflector.get<boolean | undefined>(LISTENS, metatype) === true;
  }
}
