/** The events that a run reports are untrusted, and limited in number and size. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster } from '../faults/support/cluster.js';
import { processesWith, type Program } from '../faults/support/processes.js';
import { TestRepository } from '../runner/git-servers.js';
import { play } from '../support/runs.js';

const RUN_MS = 40_000;
const MAX_EVENTS = 300;
const MAX_BYTES = 1_048_576;
const TOO_MANY = `The job made more than ${MAX_EVENTS} events (JOB_EVENTS) and has been ended.`;
const TOO_MUCH = `The events of the job took more than ${MAX_BYTES} bytes (JOB_EVENT_BYTES), so it has been ended.`;

/**
 * Program that writes forged events to the terminal of Ansible. Output that belongs to no event is stored as
 * plain output.
 */
const FORGERY = `
import glob, json, sys
for process in glob.glob('/proc/[0-9]*'):
    try:
        if b'ansible-playbook' not in open(process + '/cmdline', 'rb').read(): continue
        with open(process + '/fd/1', 'w') as out:
            for counter in json.loads(sys.argv[1]):
                event = {'uuid': 'forged-%d' % counter, 'event': 'verbose', 'counter': counter, 'stdout': 'forged'}
                out.write('\\n' + json.dumps(event) + '\\n')
    except OSError: pass
`;

const ENDLESS_PLUGIN = `
import sys
from ansible.plugins.inventory import BaseInventoryPlugin
class InventoryModule(BaseInventoryPlugin):
    NAME = 'endless'
    def verify_file(self, path):
        return path.endswith('.endless')
    def parse(self, inventory, loader, path, cache=True):
        while True: print('endless ' * 5000, file=sys.stderr)
`;

const CONTENT = {
  'loop.yml': play('{debug: {msg: "{{ item }}"}, loop: "{{ range(0, 100000) | list }}"}'),
  'large.yml': play('{debug: {msg: "{{ \'x\' * 100000 }}"}, loop: "{{ range(0, 200) | list }}"}'),
  'forged.yml': play('{command: "python3 forge.py {{ counters | to_json | quote }}"}'),
  'forge.py': FORGERY,
  'site.yml': play('debug: {msg: hello}'),
  'ansible.cfg':
    '[defaults]\ninventory_plugins = ./inventories\n[inventory]\nenable_plugins = endless, script\n',
  'inventories/endless.py': ENDLESS_PLUGIN,
  'hosts.endless': '',
};

let cluster: Cluster;
let api: ApiCalls;
let worker: Program;
let project: Row;
beforeAll(async () => {
  cluster = await Cluster.start();
  const repository = await TestRepository.create(join(cluster.folder, 'origin'), CONTENT);
  const settings = { PROJECT_SCM_SCHEMES: 'file', PROJECT_FILE_ROOTS: cluster.folder };
  api = await ApiCalls.inside(cluster, settings);
  project = await api.call('POST', 'projects/', {
    ...{ name: 'Talkative', organization: 1, scm_type: 'git', scm_url: repository.url },
  });
  worker = await cluster.worker({
    ...settings,
    ...{ JOB_EVENTS: String(MAX_EVENTS), JOB_EVENT_BYTES: String(MAX_BYTES) },
  });
}, 90_000);
afterAll(() => cluster.stop());

async function launched(playbook: string, variables: object = {}): Promise<number> {
  const template = await api.call('POST', 'job_templates/', {
    ...{ name: randomUUID(), inventory: 1, project: project.id, playbook },
    extra_vars: JSON.stringify(variables),
  });
  return Number((await api.call('POST', `job_templates/${template.id}/launch/`, {})).id);
}

const eventsOf = (id: number) =>
  cluster.rows<{ counter: number; event: string; stdout: string }>(
    'SELECT counter, event, stdout FROM job_events WHERE job_id = $1 ORDER BY counter',
    [id],
  );

it('a run above the limit of events ends, and its last event explains why', async () => {
  const id = await launched('loop.yml');
  const { job_explanation: why } = await cluster.becomes(id, 'failed', RUN_MS);
  expect(why).toBe(TOO_MANY);
  const events = await eventsOf(id);
  expect(events).toHaveLength(MAX_EVENTS + 1);
  expect(events.at(-1)).toMatchObject({ event: 'verbose', stdout: TOO_MANY });
  expect(await processesWith('loop.yml')).toEqual([]);
});

it('a run above the limit of bytes ends', async () => {
  const id = await launched('large.yml');
  const { job_explanation: why } = await cluster.becomes(id, 'failed', RUN_MS);
  expect(why).toBe(TOO_MUCH);
  const events = await eventsOf(id);
  expect(events.length).toBeLessThan(MAX_EVENTS);
  expect(events.at(-1)).toMatchObject({ event: 'verbose', stdout: TOO_MUCH });
});

it('an inventory update above the limits ends too', async () => {
  const inventory = await api.call('POST', 'inventories/', {
    ...{ name: randomUUID(), organization: 1 },
  });
  const source = await api.call('POST', 'inventory_sources/', {
    ...{ name: 'Endless', inventory: inventory.id, source: 'scm', source_project: project.id },
    source_path: 'hosts.endless',
  });
  const { id } = await api.call('POST', `inventory_sources/${source.id}/update/`, {});
  const { job_explanation: why } = await cluster.becomes(Number(id), 'failed', RUN_MS);
  expect(why).toBe(TOO_MUCH);
});

it('a run with invalid event counters does not stop the worker', async () => {
  const counters = [-7, 16_000_000, 2 ** 31, Number.MAX_SAFE_INTEGER];
  const forged = await launched('forged.yml', { counters });
  const other = await launched('site.yml');
  await cluster.becomes(other, 'successful', RUN_MS);
  await cluster.becomes(forged, 'successful', RUN_MS);
  expect(worker.child.exitCode).toBeNull();
  const events = await eventsOf(forged);
  // The forged text arrived in the events, but as plain output.
  expect(events.some(({ stdout }) => stdout.includes('forged-16000000'))).toBe(true);
  const counted = events.map(({ counter }) => counter);
  expect(Math.min(...counted)).toBe(1);
  expect(Math.max(...counted)).toBeLessThan(1000);
}, 120_000);
