import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { entryOf } from '../common/invariants.js';
import { resource } from '../common/resource/registry.js';
import { summariesReferredTo } from '../common/resource/related-rows.js';
import { Database } from '../database/database.js';
import { LaunchTargets } from './launch-targets.service.js';
import { WorkflowLaunchLoader } from './workflow-launch.loader.js';
import type { LaunchSubject } from './workflow-launch-needs.js';

/** Loads the data that determines if a workflow can be launched, and its prompts. */
@Injectable()
export class LaunchSubjects {
  constructor(
    private readonly database: Database,
    private readonly loader: WorkflowLaunchLoader,
    private readonly targets: LaunchTargets,
  ) {}

  async load(id: number, actor: Actor): Promise<LaunchSubject> {
    const templates = await this.loader.templates([id], actor);
    const template = entryOf(templates, id);
    const nodes = await this.loader.nodes([id]);
    const ids = nodes.flatMap(({ templateId }) => templateId ?? []);
    const inventoryId = template.row.inventory_id;
    const named = await summariesReferredTo(
      resource('inventory'),
      inventoryId === null ? [] : [inventoryId],
      { database: this.database, actor },
    );
    const [inventory] = named;
    return {
      template,
      nodes,
      nodeTemplates: await this.targets.templates([...new Set(ids)]),
      inventory: inventory ? { id: inventory[0], name: String(inventory[1].name) } : null,
    };
  }
}
