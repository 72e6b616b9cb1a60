/**
 * Furnished installation for tests of the main pages and for pictures of the documentation: templates with
 * realistic names, two weeks of runs, an active run, failures, deliveries, and users with roles.
 */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import type { TestApp } from '../support/boot.js';
import {
  administer,
  askSurvey,
  deliver,
  failedJob,
  schedule,
  source,
  makeNotificationTemplate,
} from './furnish-automation.js';
import { storeEvents, storeSummaries, type FurnishedTask } from './furnish-runs.js';

export interface Furnished {
  /** Superuser with a realistic name. */
  admin: Row;
  organization: Row;
  template: Row;
  /** Active job with output and summaries of hosts. */
  job: Row;
  failedJob: Row;
  team: Row;
  inventory: Row;
  source: Row;
  schedule: Row;
  notificationTemplate: Row;
  workflow: Row;
  /** Active workflow job with one finished node, and one that waits for an approval. */
  workflowJob: Row;
  approval: Row;
  /** Id of the credential type "Machine". */
  machineType: number;
}

export async function furnish(test: TestApp): Promise<Furnished> {
  const { make } = test;
  const admin = await make.user({
    username: 'maria',
    first_name: 'Maria',
    last_name: 'Keller',
    is_superuser: true,
  });
  const shop = await make.organization({
    name: 'Shop',
    description: 'Sells shoes, and ships them',
  });
  const organization = shop.id;
  const project = await make.project({ name: 'Shop playbooks', organization });
  const inventory = await make.inventory({
    name: 'Production',
    description: 'What customers see',
    organization,
    variables: 'ansible_user: deploy\nntp_server: time.shop.example\n',
  });
  await furnishHosts(test, inventory);
  const templates: Row[] = [];
  for (const name of [
    'Deploy the shop',
    'Patch servers',
    'Renew certificates',
    'Back up the data',
  ]) {
    templates.push(
      await make.jobTemplate({
        name,
        description: `${name} of all regions, one after the other`,
        project: project.id,
        inventory: inventory.id,
        webhook_service: 'service_a',
        extra_vars: '{"region": "north", "release": "2026.11"}',
        ask_limit_on_launch: true,
      }),
    );
  }
  const [template] = templates as [Row, ...Row[]];
  const team = await make.team({ name: 'Operations', description: 'On call', organization });
  for (const username of ['amara', 'bjorn', 'chen']) {
    const user = await make.user({ username, first_name: username });
    await make.grant('organization', shop, 'member_role', { user });
    await make.grant('team', team, 'member_role', { user });
  }
  await make.grant('job_template', template, 'execute_role', { team });
  await make.grant('inventory', inventory, 'use_role', { team });
  await storeRuns(test, templates);
  await storeDeliveries(test, templates);
  await askSurvey(test, template);
  await deliver(test, template);
  return {
    admin,
    organization: shop,
    template,
    team,
    inventory,
    source: await source(test, inventory),
    schedule: await schedule(test, template),
    notificationTemplate: await makeNotificationTemplate(test, templates, organization),
    failedJob: await failedJob(test, template),
    job: await runningJob(test, template),
    ...(await workflow(test, templates, organization)),
    machineType: await administer(test),
  };
}

/** Creates web servers of two regions and their supporting hosts, in groups. */
async function furnishHosts({ as, make }: TestApp, inventory: Row): Promise<void> {
  const names = ['north', 'south'].flatMap((region) =>
    [1, 2, 3, 4].map((number) => `web-${region}-${number}`),
  );
  const hosts = [...names, 'db-1', 'db-2', 'cache-1', 'mail'].map((name) => ({ name }));
  await as.superuser.post('bulk/host_create/', { inventory: inventory.id, hosts }).expect(201);
  for (const name of ['web', 'databases', 'everything else']) await make.group(inventory, { name });
}

/** Stores runs of two weeks, some failed, at all hours of the day. */
async function storeRuns({ database }: TestApp, templates: readonly Row[]): Promise<void> {
  await database.execute(sql`
    INSERT INTO unified_jobs (type, name, status, failed, unified_job_template_id, job_template_id,
      organization_id, launch_type, elapsed, started, finished, event_processing_finished)
    SELECT 'job', tpl.name, CASE WHEN n % 9 = 4 THEN 'failed' ELSE 'successful' END, n % 9 = 4,
      tpl.id, tpl.id, tpl.organization_id,
      (ARRAY['manual', 'webhook', 'relaunch'])[1 + n % 3], 30 + n * 7 % 400,
      now() - make_interval(hours => n * n % 330, secs => 40),
      now() - make_interval(hours => n * n % 330), TRUE
    FROM generate_series(3, 120) AS n
    JOIN unnest(${templates.map(({ id }) => id)}::int[]) WITH ORDINALITY AS chosen (id, place)
      ON chosen.place = 1 + n % ${templates.length}::int
    JOIN unified_job_templates tpl ON tpl.id = chosen.id
    ORDER BY n * n % 330 DESC`);
  await database.execute(sql`
    UPDATE unified_job_templates tpl SET last_job_id = last.id, last_job_run = last.finished,
      last_job_failed = last.failed, status = last.status
    FROM (SELECT DISTINCT ON (job_template_id) * FROM unified_jobs
      WHERE job_template_id IS NOT NULL ORDER BY job_template_id, finished DESC) last
    WHERE last.job_template_id = tpl.id`);
}

async function storeDeliveries({ database }: TestApp, [, template]: readonly Row[]): Promise<void> {
  await database.execute(sql`
    INSERT INTO webhook_deliveries (template_id, service, event, guid, verdict)
    SELECT ${template?.id}, 'service_a', 'push', 'delivery-' || n,
      (ARRAY['accepted', 'accepted', 'accepted', 'ignored', 'rejected'])[1 + n % 5]
    FROM generate_series(1, 40) AS n`);
}

/** Tasks with two reachable hosts and an unreachable one. */
const TASKS: readonly FurnishedTask[] = [
  {
    task: 'Gathering Facts',
    hosts: [
      ['web-north-1', 'ok'],
      ['web-north-2', 'ok'],
    ],
  },
  {
    task: 'Install packages',
    hosts: [
      ['web-north-1', 'changed'],
      ['web-north-2', 'ok'],
      ['web-north-3', 'unreachable'],
    ],
    message: 'Failed to connect to the host via ssh: No route to host',
  },
  { task: 'Start the service', hosts: [['web-north-1', 'changed']] },
];

async function runningJob(test: TestApp, template: Row): Promise<Row> {
  const job = (await test.database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
      organization_id, project_id, inventory_id, playbook, launch_type, started, extra_vars)
    SELECT 'job', name, 'running', id, id, organization_id, project_id, inventory_id,
      'site.yml', 'webhook', now() - interval '95 seconds', extra_vars
    FROM unified_job_templates WHERE id = ${template.id} RETURNING *`))!;
  await storeEvents(test, job, TASKS, false);
  await storeSummaries(test, job, [
    ['web-north-1', 5, 2, 0, 0, 1],
    ['web-north-2', 3, 0, 1, 0, 0],
    ['web-north-3', 0, 0, 0, 1, 0],
  ]);
  return job;
}

/** Creates a workflow: test, approve, deploy to both regions, always report; roll back after a failure. */
async function workflow(
  { make, database }: TestApp,
  templates: readonly Row[],
  organization: number,
): Promise<Pick<Furnished, 'workflow' | 'workflowJob' | 'approval'>> {
  const made = await make.row('workflow_job_template', {
    name: 'Release to production',
    description: 'Tested, approved, rolled out and reported',
    organization,
  });
  const approvalTemplate = (await database.row<Row>(sql`
    INSERT INTO unified_job_templates (type, name, description, timeout)
    VALUES ('workflow_approval_template', 'Release approved?', 'The tests have passed.', 0)
    RETURNING *`))!;
  const runs = [templates[0]!, approvalTemplate, templates[1]!, templates[2]!, templates[3]!];
  const names = ['test', 'approve', 'north', 'south', 'report'];
  const ids: number[] = [];
  for (const [index, name] of names.entries()) {
    const node = await database.row<Row>(sql`
      INSERT INTO workflow_job_template_nodes (workflow_job_template_id, unified_job_template_id,
        identifier) VALUES (${made.id}, ${runs[index]!.id}, ${name}) RETURNING id`);
    ids.push(node!.id);
  }
  const edges: [number, number, string][] = [
    [0, 1, 'success'],
    [1, 2, 'success'],
    [1, 3, 'success'],
    [0, 4, 'failure'],
    [2, 4, 'always'],
    [3, 4, 'always'],
  ];
  for (const [from, to, kind] of edges) {
    await database.execute(sql`
      INSERT INTO workflow_job_template_node_edges (parent_id, child_id, kind)
      VALUES (${ids[from]}, ${ids[to]}, ${kind})`);
  }
  const workflowJob = (await database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, organization_id, started)
    VALUES ('workflow_job', ${made.name}, 'running', ${made.id}, ${organization},
      now() - interval '4 minutes') RETURNING *`))!;
  await database.execute(sql`
    UPDATE unified_job_templates SET current_job_id = ${workflowJob.id}, status = 'running'
    WHERE id = ${made.id}`);
  const tested = (await database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
      organization_id, launch_type, started, finished)
    VALUES ('job', ${runs[0]!.name}, 'successful', ${runs[0]!.id}, ${runs[0]!.id}, ${organization},
      'workflow', now() - interval '4 minutes', now() - interval '3 minutes') RETURNING *`))!;
  const approval = (await database.row<Row>(sql`
    INSERT INTO unified_jobs (type, name, description, status, unified_job_template_id,
      organization_id, launch_type, workflow_job_id)
    VALUES ('workflow_approval', ${approvalTemplate.name}, ${approvalTemplate.description},
      'pending', ${approvalTemplate.id}, ${organization}, 'workflow', ${workflowJob.id})
    RETURNING *`))!;
  const nodes: number[] = [];
  for (const [index, name] of names.entries()) {
    const run = [tested.id, approval.id][index] ?? null;
    const node = await database.row<Row>(sql`
      INSERT INTO workflow_job_nodes (workflow_job_id, unified_job_template_id, identifier, job_id,
        outcome) VALUES (${workflowJob.id}, ${runs[index]!.id}, ${name}, ${run},
        ${index === 0 ? 'successful' : ''}) RETURNING id`);
    nodes.push(node!.id);
  }
  for (const [from, to, kind] of edges) {
    await database.execute(sql`
      INSERT INTO workflow_job_node_edges (parent_id, child_id, kind)
      VALUES (${nodes[from]}, ${nodes[to]}, ${kind})`);
  }
  return { workflow: made, workflowJob, approval };
}
