/**
 * Creates one object of every resource type, in the personas' home: `await samples.of('job_template')`. The
 * home team holds a role on each kind of object that has roles. A new resource needs an entry here.
 */
import type { TableRoute } from '../../src/common/rest/route-table.service.js';
import {
  findResource,
  resources,
  type Relation,
  type Row,
  type ManyToMany,
} from '../../src/common/resource/define-resource.js';
import { insertRow } from '../../src/database/rows.js';
import { ident, join, sql } from '../../src/database/sql.js';
import type { TestApp } from './boot.js';
import { LOGINS } from './sample-logins.js';

export type SampleFactory = (samples: Samples) => Promise<Row>;

const event = { event: 'runner_on_ok', event_data: '{}', stdout: 'ok', start_line: 0, end_line: 1 };

const FACTORIES: Record<string, SampleFactory> = {
  organization: async ({ test }) => test.home.organization,
  user: async ({ test: { make, home } }) => {
    const user = await make.user();
    await make.grant('organization', home.organization, 'member_role', { user });
    return user;
  },
  team: async (samples) => {
    const { home, make, as } = samples.test;
    const team = await samples.row('team', { name: samples.name('Sample team') });
    await make.grant('team', team, 'admin_role', { user: as.users.teamAdmin });
    await make.grant('team', team, 'member_role', { user: as.users.teamMember });
    const project = await samples.of('project');
    await make.grant('project', project, 'read_role', { team });
    await make.grant('team', home.team, 'read_role', { team });
    return team;
  },
  role: async (samples) => samples.test.make.role('team', await samples.of('team'), 'read_role'),
  o_auth2_access_token: ({ test, insert }) =>
    insert('tokens', { user_id: test.as.users.orgMember.id, digest: `digest ${Date.now()}` }),
  credential_type: (samples) => samples.createCredentialType(),
  credential: (samples) =>
    samples.granted(
      'credential',
      'use_role',
      samples.test.make.credential({ organization: samples.home }),
    ),
  credential_input_source: async (samples) =>
    samples.row('credential_input_source', {
      ...(await samples.lookup()),
      target_credential: (await samples.of('credential')).id,
      organization: undefined,
    }),
  inventory: (samples) =>
    samples.granted(
      'inventory',
      'use_role',
      samples.test.make.inventory({ organization: samples.home }),
    ),
  constructed_inventory: (samples) =>
    samples.granted(
      'inventory',
      'use_role',
      samples.row('inventory', { name: samples.name('Constructed'), kind: 'constructed' }),
    ),
  host: async (samples) => samples.test.make.host(await samples.of('inventory')),
  group: async (samples) => samples.test.make.group(await samples.of('inventory')),
  project: (samples) =>
    samples.granted(
      'project',
      'use_role',
      samples.test.make.project({ organization: samples.home }),
    ),
  job_template: async (samples) => {
    const project = (await samples.of('project')).id;
    const inventory = (await samples.of('inventory')).id;
    const template = samples.test.make.jobTemplate({ project, inventory });
    return samples.granted('job_template', 'execute_role', template);
  },
  workflow_job_template: (samples) =>
    samples.granted(
      'workflow_job_template',
      'execute_role',
      samples.test.make.workflowTemplate({ organization: samples.home }),
    ),
  workflow_job_template_node: async (samples) =>
    samples.test.make.workflowNode(await samples.of('workflow_job_template'), {
      unified_job_template: (await samples.of('job_template')).id,
    }),
  workflow_approval_template: async (samples) => {
    const node = await samples.test.make.workflowNode(await samples.of('workflow_job_template'));
    const template = await samples.insert('unified_job_templates', {
      type: 'workflow_approval_template',
      name: 'Sample approval',
    });
    await samples.test.database.execute(sql`
      UPDATE workflow_job_template_nodes SET unified_job_template_id = ${template.id}
      WHERE id = ${node.id}`);
    return template;
  },
  schedule: async (samples) =>
    samples.row('schedule', {
      name: samples.name('Schedule'),
      rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=YEARLY;INTERVAL=1',
      unified_job_template: (await samples.of('job_template')).id,
    }),
  label: (samples) => samples.row('label', { name: samples.name('Label') }),
  instance_group: (samples) =>
    samples.row('instance_group', { name: samples.name('Group'), organization: undefined }),
  ...LOGINS,
  execution_environment: (samples) =>
    samples.row('execution_environment', { name: samples.name('EE'), image: 'quay.io/team/ee' }),
  instance: async (samples) =>
    samples.insert('instances', { hostname: samples.name('node'), version: '1.0' }),
  notification_template: ({ test, home }) => test.make.notificationTemplate({ organization: home }),
  job: async (samples) => {
    const template = (await samples.of('job_template')).id;
    return samples.insert('unified_jobs', {
      type: 'job',
      name: 'Sample job',
      status: 'successful',
      organization_id: samples.home,
      unified_job_template_id: template,
      job_template_id: template,
      project_id: (await samples.of('project')).id,
      inventory_id: (await samples.of('inventory')).id,
      launch_config: '{}',
      event_processing_finished: true,
    });
  },
  project_update: async (samples) => {
    const project = (await samples.of('project')).id;
    return samples.insert('unified_jobs', {
      type: 'project_update',
      name: 'Sample update',
      status: 'successful',
      organization_id: samples.home,
      unified_job_template_id: project,
      project_id: project,
      event_processing_finished: true,
    });
  },
  inventory_source: async (samples) =>
    samples.row('inventory_source', {
      name: samples.name('Source'),
      inventory: (await samples.of('inventory')).id,
      source: 'ec2',
    }),
  inventory_update: async (samples) => {
    const source = await samples.of('inventory_source');
    return samples.insert('unified_jobs', {
      type: 'inventory_update',
      name: 'Sample inventory update',
      status: 'successful',
      source: 'ec2',
      organization_id: samples.home,
      unified_job_template_id: source.id,
      inventory_source_id: source.id,
      inventory_id: source.inventory_id,
      event_processing_finished: true,
    });
  },
  ad_hoc_command: async (samples) =>
    samples.insert('unified_jobs', {
      type: 'ad_hoc_command',
      name: 'ping: ',
      module_name: 'ping',
      status: 'successful',
      organization_id: samples.home,
      inventory_id: (await samples.of('inventory')).id,
      credential_id: (await samples.of('credential')).id,
      event_processing_finished: true,
    }),
  system_job_template: async ({ test: { database } }) => {
    const row = await database.row<Row>(sql`
      SELECT * FROM unified_job_templates WHERE type = 'system_job_template' ORDER BY id LIMIT 1`);
    return row!;
  },
  system_job: async (samples) =>
    samples.insert('unified_jobs', {
      type: 'system_job',
      name: 'Sample cleanup',
      status: 'successful',
      job_type: 'cleanup_jobs',
      extra_vars: '{"days": 90}',
      unified_job_template_id: (await samples.of('system_job_template')).id,
      event_processing_finished: true,
    }),
  workflow_job: async (samples) =>
    samples.insert('unified_jobs', {
      type: 'workflow_job',
      name: 'Sample workflow job',
      status: 'successful',
      is_bulk_job: true,
      organization_id: samples.home,
      event_processing_finished: true,
    }),
  workflow_approval: async (samples) => {
    const run = { status: 'successful', organization_id: samples.home };
    const workflow = await samples.insert('unified_jobs', {
      ...run,
      type: 'workflow_job',
      name: 'Sample run of a workflow',
      unified_job_template_id: (await samples.of('workflow_job_template')).id,
    });
    return samples.insert('unified_jobs', {
      ...run,
      type: 'workflow_approval',
      name: 'Sample approval',
      unified_job_template_id: (await samples.of('workflow_approval_template')).id,
      workflow_job_id: workflow.id,
    });
  },
  workflow_job_node: async (samples) =>
    samples.insert('workflow_job_nodes', {
      workflow_job_id: (await samples.of('workflow_job')).id,
      unified_job_template_id: (await samples.of('job_template')).id,
      identifier: 'sample',
    }),
  host_metric: (samples) => samples.insert('host_metrics', { hostname: samples.name('node') }),
  host_metric_summary_monthly: (samples) =>
    samples.insert('host_metric_summary_monthly', {
      date: `${samples.name('').trim().padStart(4, '0')}-01-01`,
    }),
  unified_job: (samples) => samples.of('job'),
  unified_job_template: (samples) => samples.of('job_template'),
  job_event: async (samples) =>
    samples.insert('job_events', { job_id: (await samples.of('job')).id, counter: 1, ...event }),
  ad_hoc_command_event: async (samples) =>
    samples.insert('job_events', {
      job_id: (await samples.of('ad_hoc_command')).id,
      host_id: (await samples.of('host')).id,
      counter: 1,
      ...event,
    }),
  inventory_update_event: async (samples) => {
    const job_id = (await samples.of('inventory_update')).id;
    return samples.insert('job_events', { job_id, counter: 1, ...event, event: 'verbose' });
  },
  job_host_summary: async (samples) =>
    samples.insert('job_host_summaries', {
      job_id: (await samples.of('job')).id,
      host_id: (await samples.of('host')).id,
      host_name: 'sample',
    }),
  notification: async (samples) => {
    const template = await samples.of('notification_template');
    return samples.insert('notifications', {
      notification_template_id: template.id,
      unified_job_id: (await samples.of('job')).id,
      notification_type: 'webhook',
      status: 'failed',
      event: 'success',
    });
  },
  notification_attempt: async (samples) =>
    samples.insert('notification_attempts', {
      notification_id: (await samples.of('notification')).id,
    }),
  webhook_delivery: async (samples) =>
    samples.insert('webhook_deliveries', {
      template_id: (await samples.of('job_template')).id,
      service: 'service_a',
      event: 'push',
      guid: 'sample',
      verdict: 'ignored',
    }),
  webhook_status_post: async (samples) =>
    samples.insert('webhook_status_posts', { job_id: (await samples.of('job')).id }),
  activity_stream: async (samples) => {
    const team = await samples.of('team');
    const row = await samples.test.database.row<Row>(sql`
      SELECT * FROM activity_stream WHERE object1 = 'team' AND object1_id = ${team.id} LIMIT 1`);
    return row!;
  },
};

/** Values of URL parameters that are not ids of the route's own resource: a type, or `=` and a text. */
const PARAMETERS: Record<string, string> = {
  ...{ delivery: 'webhook_delivery', category: '=all' },
  ...{ tag: '=teams', name: '=Team', slug: '=unknown' },
};

const typeOfPath = (path: string): string =>
  resources().find((definition) => definition.path === path)?.type ?? path;

/** Returns true for a relation with a link table. Roles are granted, not linked. */
export const isLinked = (relation: Relation): relation is ManyToMany =>
  relation.kind === 'many-to-many' &&
  !relation.table.startsWith('role_') &&
  !resources().some(({ table }) => table === relation.table);

export class Samples {
  private readonly rows = new Map<string, Promise<Row>>();
  private names = 0;

  /** @param onCreated is called with every created sample */
  constructor(
    readonly test: TestApp,
    private readonly onCreated: (type: string, row: Row) => Promise<void> = async () => {},
  ) {}

  get home(): number {
    return this.test.home.organization.id;
  }

  /** Returns the sample of a type, and creates it if necessary. */
  of(type: string): Promise<Row> {
    // Types without stored rows have no objects.
    if (findResource(type)?.stored === false) return Promise.resolve({ id: 1 });
    const factory = FACTORIES[type];
    if (!factory) throw new Error(`No sample of ${type}: add one to test/support/samples.ts`);
    const row = this.rows.get(type) ?? this.create(type, factory);
    this.rows.set(type, row);
    return row;
  }

  private async create(type: string, factory: SampleFactory): Promise<Row> {
    const row = await factory(this);
    await this.onCreated(type, row);
    return row;
  }

  /** Discards all samples except the home: changed or deleted samples are created again. */
  reset(): void {
    this.rows.clear();
  }

  /** Links the samples to each other by every link table. */
  async linkAll(): Promise<void> {
    for (const { type, relations } of resources()) {
      for (const relation of Object.values(relations)) {
        if (!isLinked(relation)) continue;
        const { sourceColumn, targetColumn, fixed } = relation;
        const [source, target] = [await this.of(type), await this.of(relation.target().type)];
        if (source === target) continue;
        const link = { [sourceColumn]: source.id, [targetColumn]: target.id, ...fixed };
        await this.link(relation.table, link);
      }
    }
  }

  /** Inserts a row into a link table unless it exists. */
  async link(table: string, row: Record<string, unknown>): Promise<void> {
    const columns = Object.keys(row).map((column) => ident(column));
    const values = Object.values(row).map((value) => sql`${value}`);
    await this.test.database.execute(sql`
      INSERT INTO ${ident(table)} (${join(columns, ', ')})
      VALUES (${join(values, ', ')}) ON CONFLICT DO NOTHING`);
  }

  /** Returns the URL of a route with ids of samples. */
  async pathOf({ pattern, info }: TableRoute): Promise<string> {
    const parts = pattern.split('/').map(async (part, index, all) => {
      if (!part.startsWith(':')) return part;
      const type = PARAMETERS[part.slice(1)] ?? info?.parent?.type ?? typeOfPath(all[index - 1]!);
      return type.startsWith('=') ? type.slice(1) : String((await this.of(type)).id);
    });
    return `${(await Promise.all(parts)).join('/').replace(/\/$/, '')}/`;
  }

  createCredentialType(): Promise<Row> {
    const fields = { name: this.name('Type'), kind: 'cloud', organization: undefined };
    return this.row('credential_type', fields);
  }

  /** Returns an input source for the password of a machine credential. */
  async lookup(): Promise<Record<string, unknown>> {
    const store = await this.test.make.credential({
      ...{ organization: this.home, namespace: 'hashivault_kv' },
    });
    return {
      input_field_name: 'password',
      metadata: { secret_path: 'kv/db', secret_key: 'password' },
      source_credential: store.id,
    };
  }

  name(prefix: string): string {
    return `${prefix} ${(this.names += 1)}`;
  }

  row(type: string, fields: Record<string, unknown>): Promise<Row> {
    return this.test.make.row(type, { organization: this.home, ...fields });
  }

  readonly insert = async (table: string, columns: Record<string, unknown>): Promise<Row> =>
    (await this.test.database.row<Row>(insertRow(table, columns)))!;

  /** Grants the home team a role on an object. */
  async granted(type: string, field: string, object: Promise<Row>): Promise<Row> {
    const row = await object;
    await this.test.make.grant(type, row, field, { team: this.test.home.team });
    return row;
  }
}

/** Returns every resource type. */
export const sampleTypes = (): readonly string[] => resources().map(({ type }) => type);
