import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { holdsAny } from '../access/predicates.js';
import type { Actor } from '../common/access.js';
import type { RouteTable } from '../common/rest/route-table.service.js';
import { Settings } from '../config/settings.js';
import { VERSION } from '../config/version.js';
import { instantText } from '../database/instants.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { installationUuid } from '../settings/installation.repository.js';
import { RuntimeSettings } from '../settings/runtime-settings.service.js';
import { NOT_ISOLATED } from '../instances/isolation.js';
import {
  DEFAULT_GROUP,
  InstanceGroupsRepository,
} from '../instances/instance-groups.repository.js';
import { InstancesRepository, liveIsolations } from '../instances/instances.repository.js';
import { readyMachines } from '../instances/worker-nodes.repository.js';

/**
 * Root keys that differ from the path, for compatibility with clients
 * (docs/contract/clients.md#starting).
 */
const ROOT_KEYS: Record<string, string> = {
  inventories: 'inventory',
  constructed_inventories: 'constructed_inventory',
};

const BECOME_METHODS = [
  ['sudo', 'Sudo'],
  ['su', 'Su'],
  ['pbrun', 'Pbrun'],
  ['pfexec', 'Pfexec'],
  ['dzdo', 'DZDO'],
  ['pmrun', 'Pmrun'],
  ['runas', 'Runas'],
  ['enable', 'Enable'],
  ['doas', 'Doas'],
  ['ksu', 'Ksu'],
  ['machinectl', 'Machinectl'],
  ['sesu', 'Sesu'],
] as const;

/** Public information about the installation. */
interface Installation {
  uuid: string | null;
  isolation: string[];
  /** Total capacity of all instances, in forks. */
  capacity: number;
}

@Injectable()
export class RootService {
  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly runtime: RuntimeSettings,
    private readonly groups: InstanceGroupsRepository,
    private readonly instances: InstancesRepository,
  ) {}

  /** Returns names and paths of all collections and documents below `/api/v2/`, from the routes. */
  collections(table: RouteTable): Record<string, string> {
    const paths: Record<string, string> = {};
    for (const { pattern, routes } of table.entries) {
      const name = /^\/api\/v2\/([a-z_]+)$/.exec(pattern)?.[1];
      if (name && routes.has('GET')) paths[ROOT_KEYS[name] ?? name] = `${pattern}/`;
    }
    return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns the operator's logo and notice on the login page, under the names that clients read. */
  async loginBranding(): Promise<{ custom_logo: string; custom_login_info: string }> {
    const { CUSTOM_LOGO, CUSTOM_LOGIN_INFO } = await this.runtime.get(
      'CUSTOM_LOGO',
      'CUSTOM_LOGIN_INFO',
    );
    return { custom_logo: CUSTOM_LOGO, custom_login_info: CUSTOM_LOGIN_INFO };
  }

  /**
   * Returns the status. Only superusers and auditors see the names of worker machines, and only users see
   * the names of groups; other callers see the machine that handles the request.
   */
  async ping(actor: Actor | undefined): Promise<object> {
    const { uuid, isolation, capacity } = await this.database.rowOrFail<Installation>(sql`
      SELECT ${installationUuid()} AS uuid,
        (SELECT coalesce(sum(capacity), 0)::int FROM (${readyMachines()}) ready) AS capacity,
        ARRAY(SELECT label FROM (${liveIsolations()}) live ORDER BY label) AS isolation`);
    const ownInstance = {
      node: hostname(),
      node_type: 'hybrid',
      uuid: uuid ?? '',
      heartbeat: instantText(new Date().toISOString()),
      capacity,
      version: VERSION,
    };
    const defaultGroup = { name: DEFAULT_GROUP, capacity, instances: [ownInstance.node] };
    const isOperator = actor?.isSuperuser || actor?.isSystemAuditor;
    const groups = actor ? await this.groups.overview() : [defaultGroup];
    return {
      ha: false,
      version: VERSION,
      active_node: ownInstance.node,
      install_uuid: ownInstance.uuid,
      isolation,
      warnings: isolation.includes('none') ? [NOT_ISOLATED] : [],
      instances: isOperator ? await this.nodes() : [ownInstance],
      instance_groups: isOperator
        ? groups
        : groups.map((group) =>
            group.name === defaultGroup.name ? defaultGroup : { ...group, instances: [] },
          ),
    };
  }

  /** Returns all instances as nodes. They have no links: workers take runs from the database. */
  async mesh(): Promise<object> {
    return { nodes: await this.instances.nodes(), links: [] };
  }

  async config(actor: Actor): Promise<object> {
    const limits = await this.runtime.get(
      'BULK_JOB_MAX_LAUNCH',
      'BULK_HOST_MAX_CREATE',
      'BULK_HOST_MAX_STREAM',
      'BULK_HOST_MAX_DELETE',
    );
    return {
      time_zone: 'UTC',
      version: VERSION,
      license_info: { license_type: 'open', valid_key: true },
      eula: '',
      analytics_status: 'off',
      analytics_collectors: {},
      become_methods: BECOME_METHODS,
      ...limits,
      PAGE_SIZE: this.settings.PAGE_SIZE,
      MAX_PAGE_SIZE: this.settings.MAX_PAGE_SIZE,
      ...((await this.maySeeProjects(actor)) ? await this.projectFolders() : {}),
    };
  }

  private async nodes(): Promise<object[]> {
    const alive = await this.instances.alive();
    return alive.map((instance) => ({ ...instance, node_type: 'execution', uuid: '' }));
  }

  private async maySeeProjects(actor: Actor): Promise<boolean> {
    if (actor.isSuperuser || actor.isSystemAuditor) return true;
    const roles = ['admin_role', 'auditor_role', 'project_admin_role'];
    const row = await this.database.row<{ may: boolean }>(
      sql`SELECT (${holdsAny('organization', roles, actor)}) AS may`,
    );
    return row?.may === true;
  }

  private async projectFolders(): Promise<object> {
    const base = join(this.settings.DATA_DIR, 'projects');
    const entries = await readdir(base, { withFileTypes: true }).catch(() => []);
    return {
      project_base_dir: base,
      project_local_paths: entries
        .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
        .map(({ name }) => name)
        .filter((name) => !/^_\d+__/.test(name))
        .sort(),
      custom_virtualenvs: [],
    };
  }
}
