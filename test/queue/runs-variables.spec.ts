/**
 * Budget: 60 s, because Ansible writes back what it was handed in four runs.
 */
import { createHmac, randomUUID } from 'node:crypto';
import fc from 'fast-check';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { jsonTexts } from '../support/json-texts.js';
import { linesOfPython } from '../support/python.js';

const play = (data: string): string => `- hosts: all
  gather_facts: false
  tasks:
    - set_stats: {data: ${data}}
`;
const PLAYBOOKS = {
  // The sign keeps Ansible from reading the text.
  'echo.yml': play(
    `{got: "={{ {'template': own, 'sent': sent, 'host': here, 'group': wide} | to_json }}"}`,
  ),
  'payload.yml': play('{got: "={{ svc_webhook_payload | to_json }}"}'),
  'hand.yml': play('{handed: "{{ sent }}"}'),
  'handed.yml': play('{got: "={{ handed | to_json }}"}'),
};

/** Ansible has other names for values that look like templates. */
const word = fc.stringMatching(/^[ -z~é😀]{0,6}$/u).filter((text) => text.isWellFormed());
const documents = (count: number): string =>
  `[${fc.sample(jsonTexts(word, word), count).join(',')}]`;

/** JSON texts as Python writes what it reads in them. */
const asPython = (...texts: string[]): string[] =>
  linesOfPython(
    'import json, sys\nfor line in sys.stdin: print(json.dumps(json.loads(line)))',
    texts,
  );

/** Variables reach the run as Python reads what callers send: docs/decisions/0142-values-are-data.md. */
describe('variables', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  let inventory: Row;

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS });
    api = await ApiCalls.inside(cluster);
    await cluster.workerInside();
    inventory = await send('inventories/', '{"name": "Inventory", "organization": 1}');
  });
  afterAll(() => cluster.stop());

  /** Posts a body as it is: `JSON.stringify` would change it. */
  async function send(path: string, body: string, headers: object = {}): Promise<Row> {
    const answer = await fetch(`${api.url}/api/v2/${path}`, {
      method: 'POST',
      headers: { Authorization: api.authorization, 'Content-Type': 'application/json', ...headers },
      body,
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Row;
  }

  const template = (playbook: string, variables = '{}'): Promise<Row> =>
    send(
      'job_templates/',
      `{"name": "${randomUUID()}", "project": 1, "inventory": ${inventory.id}, "playbook": "${playbook}",
        "ask_variables_on_launch": true, "extra_vars": ${variables}}`,
    );

  /** Returns the text that the playbook of a job wrote. */
  async function got(id: number): Promise<string> {
    await cluster.becomes(id, 'successful', 60_000);
    const { artifacts } = await api.call('GET', `jobs/${id}/`);
    return String((artifacts as Row).got).slice(1);
  }

  it('of templates, launches, hosts and groups reach the run unchanged', async () => {
    const [own, sent, here, wide] = [1, 2, 3, 4].map(() => documents(100));
    const local = '"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"';
    const host = await send(
      `inventories/${inventory.id}/hosts/`,
      `{"name": "one", "variables": {${local}, "here": ${here}}}`,
    );
    const group = await send(
      `inventories/${inventory.id}/groups/`,
      `{"name": "some", "variables": ${JSON.stringify(`{"wide": ${wide}}`)}}`,
    );
    await api.call('POST', `groups/${group.id}/hosts/`, { id: host.id });
    const { id } = await template('echo.yml', `{"own": ${own}}`);
    const job = await send(`job_templates/${id}/launch/`, `{"extra_vars": {"sent": ${sent}}}`);
    const [expected, shown] = asPython(
      `{"template": ${own}, "sent": ${sent}, "host": ${here}, "group": ${wide}}`,
      `{"own": ${own}, "sent": ${sent}}`,
    );
    expect(await got(job.id)).toBe(expected);
    expect(asPython(String((await api.call('GET', `jobs/${job.id}/`)).extra_vars))).toEqual([
      shown,
    ]);
    // As they are shown, they can be sent again.
    const text = await api.text('GET', `hosts/${host.id}/variable_data/`);
    expect(asPython(text)).toEqual(asPython(`{${local}, "here": ${here}}`));
  });

  it('of a webhook are its payload', async () => {
    const payload = `{"ref": "refs/heads/main", "after": "${'1'.repeat(40)}", "more": ${documents(100)}}`;
    const { id } = await template('payload.yml');
    await api.call('PATCH', `job_templates/${id}/`, { webhook_service: 'service_a' });
    const { webhook_key: key } = await api.call('GET', `job_templates/${id}/webhook_key/`);
    const signature = createHmac('sha1', String(key)).update(payload).digest('hex');
    const { job } = await send(`job_templates/${id}/service_a/`, payload, {
      ...{ 'X-Service-A-Event': 'push', 'X-Service-A-Delivery': randomUUID() },
      'X-Service-A-Signature': `sha1=${signature}`,
    });
    expect([await got(Number(job))]).toEqual(asPython(payload));
  });

  it('are handed on by nodes as they were set', async () => {
    const sent = documents(100);
    const workflow = await api.call('POST', 'workflow_job_templates/', { name: 'Flow' });
    const nodes: Row[] = [];
    for (const [playbook, data] of [
      ['hand.yml', `{"sent": ${sent}}`],
      ['handed.yml', '{}'],
    ] as const) {
      const { id } = await template(playbook);
      nodes.push(
        await send(
          `workflow_job_templates/${workflow.id}/workflow_nodes/`,
          `{"unified_job_template": ${id}, "extra_data": ${data}}`,
        ),
      );
    }
    const [first, second] = nodes as [Row, Row];
    await api.call('POST', `workflow_job_template_nodes/${first.id}/success_nodes/`, {
      id: second.id,
    });
    const { id } = await send(`workflow_job_templates/${workflow.id}/launch/`, '{}');
    await cluster.becomes(id, 'successful', 60_000);
    const { results } = await api.call('GET', `workflow_jobs/${id}/workflow_nodes/?order_by=id`);
    expect([await got(Number((results as Row[])[1]?.job))]).toEqual(asPython(sent));
  });
});
