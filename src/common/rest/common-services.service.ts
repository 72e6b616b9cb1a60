import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { Database } from '../../database/database.js';
import { RoleStore } from '../access.js';
import { ActivityRecorder } from '../activity/activity.js';
import { ReferencesService } from './references.service.js';
import { ResourceService } from './resource.service.js';

/** Services that the generic routes use, injected together. */
@Injectable()
export class CommonServices {
  constructor(
    readonly resources: ResourceService,
    readonly database: Database,
    readonly references: ReferencesService,
    readonly roles: RoleStore,
    readonly activity: ActivityRecorder,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** Returns a provider of a feature module, for sub-lists whose rules are defined in that module. */
  find<T>(token: abstract new (...args: never[]) => T): T {
    return this.moduleRef.get<T>(token, { strict: false });
  }
}
