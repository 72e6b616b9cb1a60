/**
 * Every writable field of these resources has an effect: a run receives its value, users read it, the API
 * refuses it, or a named test shows the effect.
 */
import { readFileSync } from 'node:fs';

import { SecretBox } from '../../src/common/crypto/secret-box.js';
import { isWritable } from '../../src/common/fields/reads.decorator.js';
import { resource, type Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { Launchers } from '../../src/launching/launchers.service.js';
import { LAUNCH_OPTIONS } from '../../src/prompts/launch-options.js';
import { RunsRepository } from '../../src/runs/runs.repository.js';
import { DueSchedules } from '../../src/schedules/due-schedules.service.js';
import { NextLaunches } from '../../src/schedules/next-launches.service.js';
import { SchedulesRepository } from '../../src/schedules/schedules.repository.js';
import { RuntimeSettings } from '../../src/settings/runtime-settings.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { workflowEngine } from '../support/workflow-engine.js';

/** Values of a node or a schedule that its job receives. */
const SAVED = {
  diff_mode: true,
  forks: 7,
  job_tags: 'deploy',
  job_type: 'check',
  limit: 'web',
  scm_branch: 'stable',
  skip_tags: 'slow',
  timeout: 60,
  verbosity: 3,
};
/** References to objects that the test creates. */
const SAVED_REFERENCES = ['execution_environment', 'inventory'];

/** Values of a workflow job template that its job receives. */
const HANDED = {
  allow_simultaneous: true,
  extra_vars: '{"a": 1}',
  job_tags: 'deploy',
  limit: 'web',
  scm_branch: 'stable',
  skip_tags: 'slow',
};

/** Fields that a launch of a workflow can set. */
const PROMPTS = LAUNCH_OPTIONS.filter(({ inWorkflows }) => inWorkflows);

const RETENTION = 'test/queue/system-jobs.spec.ts';
const WORKFLOW = 'test/api/workflow-launch.e2e-spec.ts';
const OUTSIDERS = 'test/security/webhook-outsiders.e2e-spec.ts';
const COMMANDS = 'test/queue/ad-hoc-commands.spec.ts';
const COMMAND_LAUNCH = 'test/api/ad-hoc-commands.e2e-spec.ts';
const GROUPS = 'test/queue/instance-groups.spec.ts';
const POLICIES = 'test/api/instance-groups.e2e-spec.ts';
const ENVIRONMENTS = 'test/queue/execution-environments.spec.ts';
const CONSTRUCTED = 'test/queue/constructed-inventories.spec.ts';
const CONSTRUCTED_SOURCES = 'test/api/constructed-inventories.e2e-spec.ts';
const RIGHTS = 'test/security/permissions.e2e-spec.ts';
const USERS = 'test/api/users.e2e-spec.ts';
const CREDENTIALS = 'test/api/credentials.e2e-spec.ts';
const STORES = 'test/queue/credential-input-sources.spec.ts';

interface Effects {
  /** Fields whose values a run receives. */
  given?: readonly string[];
  /** Fields that users read, which have no other effect. */
  read?: readonly string[];
  /** Tests that show the effect of a field, or its refusal. */
  shown: Readonly<Record<string, string>>;
}

const NAMED = ['name', 'description'];
const saved = [...Object.keys(SAVED), ...SAVED_REFERENCES, 'job_slice_count', 'extra_data'];

const EFFECTS: Readonly<Record<string, Effects>> = {
  ad_hoc_command: {
    shown: {
      become_enabled: COMMANDS,
      become_password: COMMANDS,
      credential: COMMANDS,
      diff_mode: COMMANDS,
      execution_environment: ENVIRONMENTS,
      extra_vars: COMMANDS,
      forks: COMMANDS,
      inventory: COMMANDS,
      job_type: COMMANDS,
      limit: COMMANDS,
      module_args: COMMANDS,
      module_name: COMMANDS,
      ssh_key_unlock: COMMAND_LAUNCH,
      ssh_password: COMMAND_LAUNCH,
      verbosity: COMMANDS,
    },
  },
  constructed_inventory: {
    read: NAMED,
    shown: {
      limit: CONSTRUCTED,
      organization: CONSTRUCTED_SOURCES,
      prevent_instance_group_fallback: GROUPS,
      source_vars: CONSTRUCTED,
      update_cache_timeout: 'test/queue/constructed-inventories-order.spec.ts',
      variables: CONSTRUCTED,
      verbosity: CONSTRUCTED_SOURCES,
    },
  },
  credential: {
    read: NAMED,
    shown: {
      credential_type: 'test/queue/inventory-updates.spec.ts',
      inputs: CREDENTIALS,
      organization: CREDENTIALS,
      team: CREDENTIALS,
      user: CREDENTIALS,
    },
  },
  credential_input_source: {
    read: ['description'],
    shown: {
      input_field_name: STORES,
      metadata: STORES,
      source_credential: STORES,
      target_credential: 'test/api/credential-input-sources.e2e-spec.ts',
    },
  },
  credential_type: {
    read: NAMED,
    shown: {
      injectors: 'test/queue/inventory-updates.spec.ts',
      inputs: 'test/api/credential-types.e2e-spec.ts',
      kind: 'test/api/credential-types.e2e-spec.ts',
    },
  },
  execution_environment: {
    read: NAMED,
    shown: {
      credential: ENVIRONMENTS,
      image: ENVIRONMENTS,
      organization: 'test/api/execution-environments.e2e-spec.ts',
      pull: ENVIRONMENTS,
    },
  },
  group: {
    read: ['description'],
    shown: {
      inventory: 'test/api/groups.e2e-spec.ts',
      name: 'test/api/inventories.e2e-spec.ts',
      variables: 'test/api/inventories.e2e-spec.ts',
    },
  },
  host: {
    read: ['description'],
    shown: {
      enabled: 'test/api/inventories.e2e-spec.ts',
      instance_id: 'test/queue/inventory-sources.spec.ts',
      inventory: 'test/api/hosts.e2e-spec.ts',
      name: 'test/api/inventories.e2e-spec.ts',
      variables: 'test/api/inventories.e2e-spec.ts',
    },
  },
  instance: {
    shown: {
      capacity_adjustment: 'test/queue/instances.spec.ts',
      enabled: 'test/queue/instances-placement.spec.ts',
      managed_by_policy: POLICIES,
    },
  },
  instance_group: {
    read: ['name'],
    shown: {
      credential: POLICIES,
      is_container_group: POLICIES,
      max_concurrent_jobs: GROUPS,
      max_forks: GROUPS,
      pod_spec_override: POLICIES,
      policy_instance_list: 'test/queue/instances-placement.spec.ts',
      policy_instance_minimum: POLICIES,
      policy_instance_percentage: POLICIES,
    },
  },
  inventory: {
    read: NAMED,
    shown: {
      host_filter: 'test/queue/inventories-smart.spec.ts',
      kind: 'test/queue/inventories-smart.spec.ts',
      organization: RIGHTS,
      prevent_instance_group_fallback: GROUPS,
      variables: 'test/api/inventories.e2e-spec.ts',
    },
  },
  label: { read: ['name'], shown: { organization: 'test/api/labels.e2e-spec.ts' } },
  notification_template: {
    read: NAMED,
    shown: {
      messages: 'test/queue/notifications-messages.spec.ts',
      notification_configuration: 'test/queue/notifications.spec.ts',
      notification_type: 'test/queue/notifications.spec.ts',
      organization: 'test/api/notification-templates.e2e-spec.ts',
    },
  },
  organization: {
    read: NAMED,
    shown: {
      default_environment: 'test/api/execution-environments.e2e-spec.ts',
      max_hosts: 'test/api/host-limit.e2e-spec.ts',
      retention_days: RETENTION,
      retention_runs: RETENTION,
    },
  },
  schedule: {
    read: NAMED,
    given: saved,
    shown: {
      enabled: 'test/queue/schedules.spec.ts',
      rrule: 'test/queue/schedules.spec.ts',
      unified_job_template: 'test/queue/schedules.spec.ts',
    },
  },
  system_job_template: { read: NAMED, shown: {} },
  team: { read: NAMED, shown: { organization: 'test/api/teams.e2e-spec.ts' } },
  user: {
    read: ['first_name', 'last_name', 'email'],
    shown: {
      is_superuser: USERS,
      is_system_auditor: USERS,
      password: USERS,
      username: USERS,
    },
  },
  workflow_approval_template: {
    read: NAMED,
    shown: { timeout: 'test/api/workflow-approvals.e2e-spec.ts' },
  },
  workflow_job_template: {
    read: NAMED,
    given: [...Object.keys(HANDED), 'inventory', ...PROMPTS.map((prompt) => prompt.switch)],
    shown: {
      allow_connection_vars: 'test/security/connection-variables.e2e-spec.ts',
      organization: RIGHTS,
      retention_days: RETENTION,
      retention_runs: RETENTION,
      survey_enabled: WORKFLOW,
      webhook_coalesce: 'test/api/webhook-coalescing.e2e-spec.ts',
      webhook_credential: 'test/api/workflow-templates.e2e-spec.ts',
      webhook_dedupe_body: OUTSIDERS,
      webhook_filters: 'test/api/workflow-webhooks.e2e-spec.ts',
      webhook_forks: OUTSIDERS,
      webhook_service: 'test/api/workflow-webhooks.e2e-spec.ts',
    },
  },
  workflow_job_template_node: {
    read: ['identifier'],
    given: saved,
    shown: {
      all_parents_must_converge: 'test/faults/workflows.spec.ts',
      unified_job_template: WORKFLOW,
      workflow_job_template: 'test/api/workflow-job-template-nodes.e2e-spec.ts',
    },
  },
};

let test: TestApp;
let template: Row;
let references: Row;
beforeAll(async () => {
  test = await boot();
  const { make, home } = test;
  const organization = home.organization.id;
  const project = await make.project({
    ...{ scm_type: 'git', scm_url: 'https://code.invalid/x.git', allow_override: true },
    organization,
  });
  const asks = LAUNCH_OPTIONS.map(({ switch: name }) => [name, true]);
  template = await make.jobTemplate({ project: project.id, ...Object.fromEntries(asks) });
  const inventory = await make.inventory({ organization });
  await make.hosts(inventory, 2);
  const environment = await make.row('execution_environment', { name: 'E', image: 'a.test/e' });
  references = { id: 0, inventory: inventory.id, execution_environment: environment.id };
});
afterAll(() => test.close());

describe.each(Object.entries(EFFECTS))('%s', (type, { given = [], read = [], shown }) => {
  it('has a visible effect for every writable field', () => {
    const names = resource(type)
      .fields.filter((field) => isWritable(field))
      .map(({ name }) => name);
    expect([...given, ...read, ...Object.keys(shown)].toSorted()).toEqual(names.toSorted());
    const missing = Object.entries(shown).filter(
      ([name, path]) => !new RegExp(`\\b${name}\\b`).test(readFileSync(path, 'utf8')),
    );
    expect(missing).toEqual([]);
  });
});

const find = <T>(token: abstract new (...args: never[]) => T): T =>
  test.app.get<T>(token as never, { strict: false });

/** Launches a saved launch as workers do, and returns the row of its run. */
const LAUNCHES: [type: string, launch: (fields: object) => Promise<Row>][] = [
  [
    'schedule',
    async (fields) => {
      const { id } = await test.make.row('schedule', {
        ...{ name: JSON.stringify(fields), unified_job_template: template.id, ...fields },
        rrule: 'DTSTART:20200101T000000Z RRULE:FREQ=HOURLY;INTERVAL=1',
      });
      await test.database.execute(
        sql`UPDATE schedules SET next_run = date_trunc('hour', now()) WHERE id = ${id}`,
      );
      const due = new DueSchedules(
        find(RunsRepository),
        find(SchedulesRepository),
        find(SecretBox),
        find(RuntimeSettings),
        find(Launchers),
        find(NextLaunches),
      );
      await test.database.transaction(() => due.launchDue());
      const run = await test.database.row<Row>(
        sql`SELECT * FROM unified_jobs WHERE schedule_id = ${id}`,
      );
      return run!;
    },
  ],
  [
    'workflow_job_template_node',
    async (fields) => {
      const workflow = await test.make.workflowTemplate();
      const node = { unified_job_template: template.id, ...fields };
      await test.make.workflowNode(workflow, node);
      const path = `workflow_job_templates/${workflow.id}/launch/`;
      const { body } = await test.as.superuser.post(path, {}).expect(201);
      await workflowEngine(test).advance();
      const run = await test.database.row<Row>(sql`
        SELECT j.* FROM workflow_job_nodes n JOIN unified_jobs j ON j.id = n.job_id
        WHERE n.workflow_job_id = ${body.id}`);
      return run!;
    },
  ],
];

describe.each(LAUNCHES)('each value of a %s', (_, launch) => {
  const columns = (run: Row): Row => ({
    ...run,
    inventory: run.inventory_id,
    execution_environment: run.execution_environment_id,
  });

  it('becomes the value of its run, and not without it', async () => {
    const { inventory, execution_environment } = references;
    const values: Record<string, unknown> = { ...SAVED, inventory, execution_environment };
    const plain = columns(await launch({}));
    const run = columns(await launch({ ...values, extra_data: { animal: 'fish' } }));
    expect(run).toMatchObject(values);
    expect(JSON.parse(String(run.extra_vars))).toEqual({ animal: 'fish' });
    for (const [name, value] of Object.entries(values)) expect(plain[name]).not.toEqual(value);
    expect(plain.extra_vars).not.toContain('fish');
  });

  it('splits its run into slices', async () => {
    const sliced = await launch({ inventory: references.inventory, job_slice_count: 2 });
    expect(sliced).toMatchObject({ type: 'workflow_job', is_sliced_job: true });
  });
});

it('values of a workflow become those of its job', async () => {
  const launched = async (fields: Record<string, unknown>): Promise<Row> => {
    const { id } = await test.make.workflowTemplate(fields);
    const path = `workflow_job_templates/${id}/launch/`;
    return (await test.as.superuser.post(path, {}).expect(201)).body;
  };
  const values = { ...HANDED, inventory: references.inventory };
  const plain = await launched({});
  expect(await launched(values)).toMatchObject(values);
  for (const [name, value] of Object.entries(values)) expect(plain[name]).not.toEqual(value);
});

it.each(PROMPTS)('a workflow accepts $name at launch if $switch is set', async (prompt) => {
  const { superuser } = test.as;
  const organization = test.home.organization.id;
  const label = await test.make.row('label', { name: prompt.name, organization });
  const values: Record<string, unknown> = { ...HANDED, ...references, labels: [label.id] };
  const ignored = async (fields: Record<string, unknown>): Promise<string[]> => {
    const { id } = await test.make.workflowTemplate(fields);
    const sent = { [prompt.name]: values[prompt.name] };
    const { body } = await superuser.post(`workflow_job_templates/${id}/launch/`, sent).expect(201);
    return Object.keys(body.ignored_fields);
  };
  expect(await ignored({})).toEqual([prompt.name]);
  expect(await ignored({ [prompt.switch]: true })).toEqual([]);
});
