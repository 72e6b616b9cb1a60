import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { memberOf } from '../common/records.js';
import type { JobStatus } from './unified-job.entity.js';

/** A status change of a run, published in the transaction of the change. */
export interface RunChange {
  jobId: number;
  /** Kind of run, such as `job` or `project_update`. */
  type: string;
  status: JobStatus;
  /** Code host that receives status posts of the run; null or absent: none. */
  reportsTo?: string | null;
  /** True if the run was just created. */
  isNew?: boolean;
  /** True if the run ended because a newer run replaced it. */
  isReplaced?: boolean;
}

/**
 * Listener for status changes. It is called inside the transaction of the change and writes its
 * follow-up work as rows. A listener that throws undoes the change, so it must do nothing but write
 * rows.
 */
export interface RunListener {
  runsChanged(changes: readonly RunChange[]): Promise<void>;
}

/**
 * Registers a provider as a listener. Notifications and status posts are connected to runs this
 * way.
 */
export const ListensToRuns = DiscoveryService.createDecorator();

const isListener = (value: unknown): value is RunListener =>
  typeof memberOf(value, 'runsChanged') === 'function';

/**
 * Publishes status changes to the listeners: the only link from runs to features that depend on
 * them.
 */
@Injectable()
export class RunChanges {
  private listeners: readonly RunListener[] | undefined;

  constructor(private readonly discovery: DiscoveryService) {}

  async publish(changes: readonly RunChange[]): Promise<void> {
    if (changes.length === 0) return;
    this.listeners ??= this.discovery
      .getProviders({ metadataKey: ListensToRuns.KEY })
      .map(({ instance }): unknown => instance)
      .filter(isListener);
    for (const listener of this.listeners) await listener.runsChanged(changes);
  }
}
