import { Get, Post } from '@nestjs/common';
import { accessList, objectRoles, teamsWithAccess } from '../access/sublists.js';
import { activityOf } from '../activity/sublists.js';
import { Idempotent } from '../common/rest/idempotency.interceptor.js';
import { MethodNotAllowed } from '../common/errors/errors.js';
import { itemAt } from '../common/invariants.js';
import type { Row } from '../common/resource/define-resource.js';
import * as json from '../common/fields/json-schema.js';
import type { Actor } from '../common/access.js';
import { CurrentActor, Target } from '../common/rest/parameters.js';
import { Route } from '../common/rest/route.js';
import { CopyController } from '../common/rest/copy.controller.js';
import type { Values } from '../common/rest/hooks.js';
import { Resource, ResourceController } from '../common/rest/resource.controller.js';
import { children, related, SubList } from '../common/rest/sublist.js';
import { launchedReply } from '../runs/launched-reply.js';
import { startedBy } from '../runs/launcher.js';
import { listInventoryFiles, listPlaybooks } from './project-files.js';
import { attachNotifications } from '../notifications/sublists.js';
import { WebhookKeyController } from '../templates/webhook-key.controller.js';
import { ProjectFolders } from './project-folders.service.js';
import { ProjectUpdateLauncher } from './project-update-launcher.service.js';
import { projectUpdates } from './project-updates.resource.js';
import { isSynced, projects } from './projects.resource.js';

const FILES = json.list(json.STRING);

@Resource(projects)
@SubList('project_updates', children('project_updates', { readOnly: true }))
@SubList('schedules', children('schedules', { mayCreateIn: isSynced }))
@SubList('teams', teamsWithAccess())
@SubList('scm_inventory_sources', related('scm_inventory_sources'))
@SubList('notification_templates_started', attachNotifications())
@SubList('notification_templates_success', attachNotifications())
@SubList('notification_templates_error', attachNotifications())
@SubList('object_roles', objectRoles())
@SubList('access_list', accessList())
@SubList('activity_stream', activityOf())
export class ProjectsController extends ResourceController(projects) {
  constructor(
    private readonly folders: ProjectFolders,
    private readonly launcher: ProjectUpdateLauncher,
  ) {
    super();
  }

  @Route({
    parent: projects,
    link: 'playbooks',
    operationId: 'projects_playbooks_read',
    summary: 'Playbooks of one project, as paths below its folder.',
    response: FILES,
  })
  @Get(':id/playbooks')
  async playbooks(@Target() project: Row): Promise<unknown> {
    if (project.scm_type !== '') return project.playbook_files;
    return listPlaybooks(this.folders.path(String(project.local_path)));
  }

  @Route({
    parent: projects,
    link: 'inventory_files',
    operationId: 'projects_inventory_files_read',
    summary: 'Files of one project that look like inventories.',
    response: FILES,
  })
  @Get(':id/inventories')
  async inventoryFiles(@Target() project: Row): Promise<unknown> {
    if (project.scm_type !== '') return project.inventory_files;
    return listInventoryFiles(this.folders.path(String(project.local_path)));
  }

  @Route({
    parent: projects,
    link: 'update',
    operationId: 'projects_can_update',
    summary: 'Return whether the project has a source to sync from.',
    response: json.object({
      can_update: json.described(json.BOOLEAN, 'True if an update can be started.'),
    }),
  })
  @Get(':id/update')
  canUpdate(@Target() project: Row): object {
    return { can_update: isSynced(project) };
  }

  @Idempotent()
  @Route({
    parent: projects,
    needs: 'update',
    resource: projectUpdates,
    adds: { project_update: json.WIDE_INTEGER },
    operationId: 'projects_update_start',
    summary: 'Sync the project.',
    status: 202,
  })
  @Post(':id/update')
  async update(@Target() project: Row, @CurrentActor() actor: Actor): Promise<object> {
    if (!isSynced(project)) throw new MethodNotAllowed('POST');
    const request = { templateId: project.id, ...startedBy(actor) };
    const run = itemAt(await this.launcher.launch([request], actor), 0);
    return launchedReply(this.services.resources, run, actor);
  }
}

@Resource(projects, 'api/v2/projects/:id/webhook_key')
export class ProjectWebhookKeyController extends WebhookKeyController {}

@Resource(projects, 'api/v2/projects/:id/copy')
export class ProjectCopyController extends CopyController {
  /** Returns an empty path, so that the copy receives its own folder. */
  protected override async replacedValues(): Promise<Values> {
    return { local_path: '' };
  }
}
