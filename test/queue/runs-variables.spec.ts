/**
 * Budget: 80 s, because Ansible writes back its variables in seven runs.
 */
import { execFileSync } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
/** Characters of all planes except braces: Ansible evaluates templates, and has other names for `{{`. */
const word = fc
  .oneof(fc.stringMatching(/^[ -z~]{0,6}$/u), fc.string({ unit: 'binary', maxLength: 6 }))
  .filter((text) => !/[{}\0]/.test(text));
/** Returns a list of generated values, the last of them nested in 50 lists and objects. */
function documents(count: number): string {
  const values = fc.sample(jsonTexts(word, word), count);
  const [inner = 'null'] = values;
  return `[${values.join(',')},${'[{"443":'.repeat(25)}${inner}${'}]'.repeat(25)}]`;
}
const brought = documents(100);
const LOCAL = '"ansible_connection": "local", "ansible_python_interpreter": "/usr/bin/python3"';

const BROUGHT = `{"all": {"hosts": {"one": {${LOCAL}, "here": ${brought}}}}}`;
const PLAYBOOKS = {
  // The prefix keeps Ansible from parsing the text.
  'echo.yml': play(
    `{got: "={{ {'template': own, 'sent': sent, 'host': here, 'group': wide} | to_json }}"}`,
  ),
  'host.yml': play('{got: "={{ here | to_json }}"}'),
  'learn.yml': `- hosts: all
  gather_facts: false
  tasks:
    - set_fact: {learnt: "{{ sent }}", cacheable: true}
`,
  'learnt.yml': play('{got: "={{ ansible_facts.learnt | to_json }}"}'),
  'payload.yml': play('{got: "={{ svc_webhook_payload | to_json }}"}'),
  'hand.yml': play('{handed: "{{ sent }}"}'),
  'handed.yml': play('{got: "={{ handed | to_json }}"}'),
};

/** Returns JSON texts as Python writes them after reading them. */
const asPython = (...texts: string[]): string[] =>
  linesOfPython(
    'import json, sys\nfor line in sys.stdin: print(json.dumps(json.loads(line)))',
    texts,
  );

/** Returns true if two JSON texts have equal values in Python. */
const areEqual = (one: string, other: string): boolean =>
  linesOfPython('import json, sys\none, other = map(json.loads, sys.stdin)\nprint(one == other)', [
    one,
    other,
  ])[0] === 'True';

/** Variables reach the run as Python reads what callers send: docs/decisions/0142-variables.md. */
describe('variables', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  let inventory: Row;
  /** Host that all templates run on, and a variable of it. */
  let host: Row;
  let here: string;

  beforeAll(async () => {
    cluster = await Cluster.start({ playbooks: PLAYBOOKS });
    const environment = { PROJECT_SCM_SCHEMES: 'file', PROJECT_FILE_ROOTS: cluster.folder };
    api = await ApiCalls.inside(cluster, environment);
    await cluster.workerInside(environment);
    inventory = await send('inventories/', '{"name": "Inventory", "organization": 1}');
    here = documents(100);
    host = await send(
      `inventories/${inventory.id}/hosts/`,
      `{"name": "one", "variables": {${LOCAL}, "here": ${here}}}`,
    );
  });
  afterAll(() => cluster.stop());

  /** Sends a body unchanged, which `JSON.stringify` would alter. */
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

  /** Creates a repository with the inventory of a source. */
  function repository(): string {
    const folder = join(cluster.folder, 'repository');
    mkdirSync(folder);
    writeFileSync(join(folder, 'list.json'), BROUGHT);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '-qm', 'x');
    return folder;
  }

  const template = (playbook: string, variables = '{}', on = inventory): Promise<Row> =>
    send(
      'job_templates/',
      `{"name": "${randomUUID()}", "project": 1, "inventory": ${on.id}, "playbook": "${playbook}",
        "ask_variables_on_launch": true, "use_fact_cache": true, "extra_vars": ${variables}}`,
    );

  /** Returns the text that the playbook of a job wrote. */
  async function got(id: number): Promise<string> {
    await cluster.becomes(id, 'successful', 60_000);
    const { artifacts } = await api.call('GET', `jobs/${id}/`);
    return String((artifacts as Row).got).slice(1);
  }

  it('of templates, launches, hosts and groups reach the run unchanged', async () => {
    const [own, sent, wide] = [1, 2, 3].map(() => documents(100));
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
    // Shown variables are exact, so a client can send them back.
    const text = await api.text('GET', `hosts/${host.id}/variable_data/`);
    expect(asPython(text)).toEqual(asPython(`{${LOCAL}, "here": ${here}}`));
  });

  it('of a host from a source or playbook reach the next run', async () => {
    const filled = await send('inventories/', '{"name": "Filled", "organization": 1}');
    const project = await send(
      'projects/',
      `{"name": "Lists", "organization": 1, "scm_type": "git", "scm_url": "file://${repository()}"}`,
    );
    const source = await send(
      'inventory_sources/',
      `{"name": "List", "inventory": ${filled.id}, "source": "scm", "source_project": ${project.id},
        "source_path": "list.json"}`,
    );
    const update = await send(`inventory_sources/${source.id}/update/`, '{}');
    await cluster.becomes(update.id, 'successful', 60_000);
    const launch = async (playbook: string, variables = '{}'): Promise<Row> => {
      const { id } = await template(playbook, '{}', filled);
      return send(`job_templates/${id}/launch/`, `{"extra_vars": ${variables}}`);
    };
    // Equal in Python, but not as text: ansible-inventory sorts names, and facts have an order of their own.
    expect(areEqual(await got((await launch('host.yml')).id), brought)).toBe(true);

    const sent = documents(100);
    await cluster.becomes(
      (await launch('learn.yml', `{"sent": ${sent}}`)).id,
      'successful',
      60_000,
    );
    expect(areEqual(await got((await launch('learnt.yml')).id), sent)).toBe(true);
  });

  it('of a webhook contain its payload', async () => {
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

  it('are passed between nodes unchanged', async () => {
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
