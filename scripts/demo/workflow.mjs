import { until } from './connection.mjs';
import { FINAL, createInventory, createOrganization, syncProject } from './objects.mjs';
import { done, expect, note, request, step } from './narrator.mjs';
import { createRepository } from './repository.mjs';
import { httpSink } from './sinks.mjs';
import { PLAYBOOKS } from './workflow-playbooks.mjs';

const PASSWORD = 'a long password of the demo';

/** Shows a workflow of three levels with an approval and a failing branch, as a user runs it. */
export async function runWorkflow(api) {
  const repository = await createRepository(PLAYBOOKS);
  const chat = await httpSink();
  try {
    const name = `release ${Date.now()}`;
    const organization = await createOrganization(api, name);
    const project = await syncProject(api, name, organization, repository);
    const inventory = await createInventory(api, name, organization);
    const jobs = await createJobTemplates(api, { name, project, inventory });
    const release = await createWorkflows(api, { name, organization, jobs });
    await addApprovalNotification(api, { name, organization, release, chat });
    const approver = await createApprover(api, { name, organization, release });
    const run = await launch(api, release);
    await approve(api, { run, approver, chat });
    const ended = await follow(api, run);
    await showLevels(api, ended);
    note('');
    done(`Open the result: ${api.url}/api/v2/workflow_jobs/${ended.id}/`);
  } finally {
    chat.close();
    await repository.remove();
  }
}

/** @returns id of the job template of each playbook, by its name without `.yml` */
async function createJobTemplates(api, { name, project, inventory }) {
  step('A job template for each playbook');
  const ids = {};
  for (const playbook of Object.keys(PLAYBOOKS)) {
    const short = playbook.replace('.yml', '');
    const template = await api.post(
      '/api/v2/job_templates/',
      { name: `${name} ${short}`, project: project.id, inventory: inventory.id, playbook },
      { quiet: short !== 'build' },
    );
    ids[short] = template.id;
  }
  done(Object.keys(ids).join(', '));
  return ids;
}

/** Creates the innermost workflow first, as a nested template must exist. */
async function createWorkflows(api, { name, organization, jobs }) {
  step('Level 3: two parallel checks. One of them fails, without an error handler');
  const checks = await createWorkflow(api, `${name} checks`, organization, {
    nodes: { pages: jobs.check_pages, database: jobs.check_database },
  });
  step('Level 2: roll out, check, then celebrate or roll back');
  const deploy = await createWorkflow(api, `${name} deploy`, organization, {
    nodes: {
      roll_out: jobs.roll_out,
      checks: checks.id,
      celebrate: jobs.celebrate,
      roll_back: jobs.roll_back,
    },
    edges: [
      ['roll_out', 'success', 'checks'],
      ['checks', 'success', 'celebrate'],
      ['checks', 'failure', 'roll_back'],
    ],
  });
  step('Level 1: build, wait for an approval, deploy, and report in any case');
  return createWorkflow(api, name, organization, {
    nodes: { build: jobs.build, ask: null, deploy: deploy.id, report: jobs.report },
    edges: [
      ['build', 'success', 'ask'],
      ['ask', 'success', 'deploy'],
      ['deploy', 'always', 'report'],
    ],
    fields: { extra_vars: '{"branch": "main"}', ask_variables_on_launch: true },
  });
}

/** @param nodes template by identifier; null creates a node that waits for an approval */
async function createWorkflow(api, name, organization, { nodes, edges = [], fields = {} }) {
  const workflow = await api.post('/api/v2/workflow_job_templates/', {
    name,
    organization: organization.id,
    ...fields,
  });
  const ids = {};
  for (const [identifier, template] of Object.entries(nodes)) {
    const node = await api.post(
      `/api/v2/workflow_job_templates/${workflow.id}/workflow_nodes/`,
      { identifier, ...(template === null ? {} : { unified_job_template: template }) },
      { quiet: Object.keys(ids).length > 0 },
    );
    ids[identifier] = node.id;
    if (template !== null) continue;
    await api.post(`${node.url}create_approval_template/`, { name: 'Go live?', timeout: 3600 });
  }
  for (const [parent, kind, child] of edges) {
    const path = `/api/v2/workflow_job_template_nodes/${ids[parent]}/${kind}_nodes/`;
    await api.post(path, { id: ids[child] });
  }
  done(`workflow job template ${workflow.id}: ${Object.keys(nodes).join(', ')}`);
  return workflow;
}

async function addApprovalNotification(api, { name, organization, release, chat }) {
  step('A notification of the chat when an approval is needed');
  const { id } = await api.post('/api/v2/notification_templates/', {
    name: `${name} chat`,
    organization: organization.id,
    notification_type: 'webhook',
    notification_configuration: {
      url: `http://127.0.0.1:${chat.port}/hooks/release`,
      http_method: 'POST',
      headers: {},
    },
  });
  const path = `/api/v2/workflow_job_templates/${release.id}/notification_templates_approvals/`;
  await api.post(path, { id });
  done('attached');
}

/**
 * Creates a user who may approve, and nothing else.
 * @returns headers of the user's requests
 */
async function createApprover(api, { name, organization, release }) {
  step('A user who may approve, and nothing else');
  const username = name.replaceAll(' ', '-');
  const user = await api.post('/api/v2/users/', { username, password: PASSWORD }, { quiet: true });
  await api.post(`/api/v2/organizations/${organization.id}/users/`, { id: user.id });
  const { summary_fields: summary } = await api.get(release.url, { quiet: true });
  const { id } = summary.object_roles.approval_role;
  await api.post(`/api/v2/users/${user.id}/roles/`, { id });
  done(`${username} has the approval role`);
  const basic = Buffer.from(`${username}:${PASSWORD}`).toString('base64');
  return { Authorization: `Basic ${basic}`, 'Content-Type': 'application/json' };
}

async function launch(api, release) {
  step('The launch, with a variable for all jobs');
  const { workflow_job: id } = await api.post(`${release.url}launch/`, {
    extra_vars: { stage: 'production' },
  });
  done(`workflow job ${id}`);
  return id;
}

async function approve(api, { run, approver, chat }) {
  step('The build is done; the workflow waits');
  const { results } = await until(
    () =>
      api.get(`/api/v2/workflow_approvals/?workflow_job=${run}&status=pending`, { quiet: true }),
    ({ count }) => count === 1,
  );
  const [approval] = results;
  note(`${approval.name} ${approval.status} until ${approval.approval_expiration}`);
  await until(
    async () => chat.received.length,
    (count) => count > 0,
  );
  note(`chat received: ${JSON.parse(chat.received[0].text).body}`);
  const workflow = await api.get(`/api/v2/workflow_jobs/${run}/`, { quiet: true });
  expect(workflow.status === 'running', `The workflow is ${workflow.status}.`);
  done('the workflow waits for the decision');

  step('The user approves; a second decision is refused');
  const path = `/api/v2/workflow_approvals/${approval.id}/approve/`;
  request('POST', path, '{}', { Authorization: 'Basic $APPROVER' });
  const first = await api.send('POST', path, '{}', approver);
  expect(first.status === 204, `The approval returned ${first.status}: ${first.text}`);
  const second = await api.send('POST', path.replace('approve', 'deny'), '{}', approver);
  expect(second.status === 400, `The second decision returned ${second.status}.`);
  done(`${first.status}, then ${second.status} ${second.text}`);
}

async function follow(api, run) {
  step('The workflow continues through all three levels');
  const ended = await until(
    () => api.get(`/api/v2/workflow_jobs/${run}/`, { quiet: true }),
    ({ status }) => FINAL.includes(status),
    { everyMs: 200, seconds: 180 },
  );
  expect(
    ended.status === 'successful',
    `The workflow ended with ${ended.status}. ${ended.job_explanation}`,
  );
  done(`${ended.status} after ${ended.elapsed} s`);
  return ended;
}

async function showLevels(api, release) {
  step('The result of each node');
  const top = await nodesOf(api, release.id, 1);
  const deploy = await nodesOf(api, top.deploy.job, 2);
  const checks = await nodesOf(api, deploy.checks.job, 3);
  expect(checks.pages.status === 'successful', 'The pages were not checked.');
  expect(checks.database.status === 'failed', 'The check of the database did not fail.');
  expect(deploy.checks.status === 'failed', 'Level 2 did not receive the failure.');
  expect(deploy.celebrate.isSkipped, 'The node celebrate ran.');
  expect(deploy.roll_back.status === 'successful', 'The node roll_back did not succeed.');
  expect(top.deploy.status === 'successful', 'Level 1 received a handled failure.');
  expect(top.report.status === 'successful', 'The node report did not succeed.');
  const failed = await api.get(`/api/v2/workflow_jobs/${deploy.checks.job}/`);
  note(failed.job_explanation);
  done('the failed check was handled, and the workflow is successful');

  step('The variables of the last playbook: of the launch, and of the build');
  const path = `/api/v2/jobs/${deploy.roll_back.job}/stdout/?format=txt`;
  const { text } = await api.send('GET', path, undefined, { Authorization: `Bearer ${api.token}` });
  const line =
    text
      .split('\n')
      .find((row) => row.includes('"msg"'))
      ?.trim() ?? '';
  expect(line.includes('rolling 1.0-main back on production'), `The output is: ${line}`);
  done(line);
}

/** Returns the result of each node of a workflow job, by identifier. */
async function nodesOf(api, id, level) {
  const { results } = await api.get(`/api/v2/workflow_jobs/${id}/workflow_nodes/`);
  const nodes = {};
  for (const { identifier, job, do_not_run: isSkipped, summary_fields: summary } of results) {
    const status = summary.job?.status ?? null;
    nodes[identifier] = { job, isSkipped, status };
    note(`${'   '.repeat(level - 1)}${identifier.padEnd(10)} ${isSkipped ? 'not run' : status}`);
  }
  return nodes;
}
