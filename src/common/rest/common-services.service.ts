import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Database } from '../../database/database.js';
import { RoleStore } from '../access.js';
import { ActivityRecorder } from '../activity/activity.js';
import { References } from './references.service.js';
import { ResourceService } from './resource.service.js';

/** What the generic routes call; one injection instead of one for each part. */
@Injectable()
export class CommonServices {
  constructor(
    readonly resources: ResourceService,
    readonly database: Database,
    readonly references: References,
    readonly roles: RoleStore,
    readonly activity: ActivityRecorder,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** A provider of a feature module, for sub-lists whose rule lives there. */
  find<T>(token: abstract new (...args: never[]) => T): T {
    return this.moduleRef.get<T>(token, { strict: false });
  }
}
