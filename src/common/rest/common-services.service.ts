import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Database } from '../../database/database.js';
import { RoleStore } from '../access.js';
import { ActivityRecorder } from '../activity/activity.js';
import { DeclaredProviders } from '../declared-providers.service.js';
import { ReferencesService } from './references.service.js';
import { ResourceRowsRepository } from './resource-rows.repository.js';
import { ResourceService } from './resource.service.js';

/** Services that the generic routes use, injected together. */
@Injectable()
export class CommonServices {
  constructor(
    readonly resources: ResourceService,
    readonly rows: ResourceRowsRepository,
    readonly database: Database,
    readonly references: ReferencesService,
    readonly roles: RoleStore,
    readonly activity: ActivityRecorder,
    readonly settings: Settings,
    readonly providers: DeclaredProviders,
  ) {}
}
