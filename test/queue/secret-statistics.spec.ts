/**
 * Budget: 30 s, because a workflow of four runs of Ansible passes secrets on.
 */
import { createHash } from 'node:crypto';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import type { Program } from '../faults/support/processes.js';

/** Text in every secret value, and nowhere else, which must never appear. */
const CANARY = 'canary-of-no-log';
const TOKEN = `${CANARY}-one`;
const DEEP = `${CANARY}-two "quoted"`;
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const PLAYBOOKS = {
  'ansible.cfg': '[defaults]\nshow_custom_stats = true\n',
  // The values are composed at run time, so that no file contains them.
  'sets.yml': `- hosts: all
  gather_facts: false
  vars: {start: "{{ 'canary-of' + '-no-log' }}"}
  tasks:
    - set_stats:
        data:
          token: "{{ start }}-one"
          nested: {deep: ["{{ start }}-two \\"quoted\\""]}
      no_log: true
    - set_stats: {data: {word: "{{ start }}-three"}, per_host: true}
      no_log: true
    - set_stats: {data: {build: 4711}}
`,
  'plain.yml': `- hosts: all
  gather_facts: false
  tasks:
    - command: echo nothing of it
`,
  'gets.yml': `- hosts: all
  gather_facts: false
  tasks:
    - assert:
        that:
          - token | hash('sha256') == '${digest(TOKEN)}'
          - nested.deep[0] | hash('sha256') == '${digest(DEEP)}'
          - build == 4711
    - debug: {msg: "got {{ token }} and {{ nested }} and {{ token | b64encode }}"}
`,
};

/** A nested workflow is created over HTTP and executed by a worker with the real Ansible. */
describe('statistics set under no_log', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  let worker: Program;
  let sets: Row;
  /** The workflow job, and the jobs of its nodes. */
  let id: number;
  let jobs: Record<string, number>;
  /** Notifications of the workflow. */
  let notifications: Record<string, unknown>;

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS, concurrency: 3 });
    api = await ApiCalls.start(cluster);
    worker = await cluster.worker();
    const [plain, gets] = [await template('plain.yml'), await template('gets.yml')];
    sets = await template('sets.yml');
    const message = {
      body: '{"artifacts": "{{ job.artifacts }}", "all": {{ job_metadata | tojson }}}',
    };
    const notification = await api.call('POST', 'notification_templates/', {
      ...{ name: 'Told', organization: 1, notification_type: 'webhook' },
      notification_configuration: {
        ...{ url: 'https://receiver.invalid/', http_method: 'POST', headers: {} },
        disable_ssl_verification: false,
      },
      messages: { success: message },
    });
    for (const { id } of [sets, gets]) {
      const url = `job_templates/${id}/notification_templates_success/`;
      await api.call('POST', url, { id: notification.id });
    }
    const inner = await workflow('Inner', { sets, between: plain, gets });
    const outer = await workflow('Outer', { inner, later: plain, last: gets });
    ({ id } = await api.call('POST', `workflow_job_templates/${outer.id}/launch/`, {}));
    await cluster.becomes(id, 'successful', 120_000);
    const outerJobs = await jobsByNode(id);
    jobs = { ...(await jobsByNode(outerJobs.inner as number)), ...outerJobs };
    notifications = await api.call('GET', 'notifications/');
  });
  afterAll(() => cluster.stop());

  const template = (playbook: string): Promise<Row> =>
    api.call('POST', 'job_templates/', {
      ...{ name: playbook, project: 1, inventory: 1, playbook },
      ask_variables_on_launch: true,
    });

  /** A workflow whose nodes, by identifier, come one after the other. */
  async function workflow(name: string, nodes: Record<string, Row>): Promise<Row> {
    const made = await api.call('POST', 'workflow_job_templates/', { name, organization: 1 });
    let before: Row | undefined;
    for (const [identifier, { id }] of Object.entries(nodes)) {
      const node = await api.call('POST', `workflow_job_templates/${made.id}/workflow_nodes/`, {
        identifier,
        unified_job_template: id,
      });
      if (before) {
        const url = `workflow_job_template_nodes/${before.id}/success_nodes/`;
        await api.call('POST', url, { id: node.id });
      }
      before = node;
    }
    return made;
  }

  /** Returns all stored values that contain the canary, by column. */
  async function stored(): Promise<string[]> {
    const columns = await cluster.rows<{ table_name: string; column_name: string }>(`
      SELECT c.table_name, c.column_name FROM information_schema.columns c
      JOIN information_schema.tables t USING (table_schema, table_name)
      WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE'
        AND c.data_type IN ('text', 'character varying', 'json', 'jsonb', 'bytea')`);
    const found: string[] = [];
    for (const { table_name: table, column_name: column } of columns) {
      const rows = await cluster.rows(
        `SELECT 1 FROM "${table}" WHERE "${column}"::text LIKE '%${CANARY}%' LIMIT 1`,
      );
      if (rows.length > 0) found.push(`${table}.${column}`);
    }
    return found;
  }

  async function jobsByNode(workflowJob: number): Promise<Record<string, number>> {
    const { results } = await api.call('GET', `workflow_jobs/${workflowJob}/workflow_nodes/`);
    return Object.fromEntries(
      (results as Row[]).map(({ identifier, job }) => [String(identifier), job as number]),
    );
  }

  it('reach the next nodes and are visible nowhere', async () => {
    const first = await api.call('GET', `jobs/${jobs.sets}/`);
    expect(first.artifacts).toBe('$hidden due to Ansible no_log flag$');
    const recap = await api.text('GET', `jobs/${jobs.sets}/stdout/?format=txt`, undefined, '*/*');
    expect(recap).toMatch(/CUSTOM STATS: \*+\s+\$hidden due to Ansible no_log flag\$/);
    for (const name of ['gets', 'last']) {
      const shown = await api.call('GET', `jobs/${jobs[name]}/`);
      expect(JSON.parse(String(shown.extra_vars))).toEqual({
        token: '$encrypted$',
        nested: '$encrypted$',
        build: '$encrypted$',
      });
      const output = await api.text(
        'GET',
        `jobs/${jobs[name]}/stdout/?format=txt`,
        undefined,
        'text/plain',
      );
      expect(output).toMatch(/got \*{10} and .*\*{10}.* and \*{10}/);
    }
    const paths = [
      ...Object.entries(jobs).flatMap(([name, job]) => {
        const url = `${name === 'inner' ? 'workflow_jobs' : 'jobs'}/${job}/`;
        return name === 'inner' ? [url] : [url, `${url}job_events/?limit=200`, `${url}stdout/`];
      }),
      ...[`workflow_jobs/${id}/`, `workflow_jobs/${id}/workflow_nodes/`, 'workflow_job_nodes/'],
      ...['jobs/', 'unified_jobs/', 'activity_stream/?page_size=200', 'notifications/'],
    ];
    for (const path of paths) {
      for (const accept of ['application/json', 'text/html']) {
        expect([path, await api.text('GET', path, undefined, accept)]).toEqual([
          path,
          expect.not.stringContaining(CANARY),
        ]);
      }
    }
    expect(notifications.count).toBe(3);
    expect(await stored()).toEqual([]);
    expect(worker.output() + api.output()).not.toContain(CANARY);
  });

  it('stay secret in a relaunched job', async () => {
    const again = await api.call('POST', `jobs/${jobs.last}/relaunch/`, {});
    await cluster.becomes(again.id, 'successful', 60_000);
    expect(await stored()).toEqual([]);
  });

  it('are not stored without a workflow that could pass them on', async () => {
    const job = await api.call('POST', `job_templates/${sets.id}/launch/`, {});
    await cluster.becomes(job.id, 'successful', 60_000);
    expect(
      await cluster.rows('SELECT secret_artifacts FROM unified_jobs WHERE id = $1', [job.id]),
    ).toEqual([{ secret_artifacts: '' }]);
    expect(await stored()).toEqual([]);
  });
});
