/**
 * Budget: 40 s, because Ansible runs modules on hosts nine times.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { Row } from '../../src/common/resource/define-resource.js';
import { ApiCalls } from '../faults/support/api-calls.js';
import { Cluster, type JobRow } from '../faults/support/cluster.js';
import { eventually } from '../support/eventually.js';
import { HttpSink } from '../support/fakes/http-sink.js';

const NETWORK = { OUTBOUND_ALLOW: '127.0.0.0/8' };

/**
 * Program that asks for a password like `su`, but changes the user in name only: no process in the sandbox
 * can gain privileges.
 */
const SU = `#!/bin/sh
printf 'Password: ' >&2
read -r given
[ "$given" = word-of-secrecy ] || { echo 'su: Authentication failure' >&2; exit 1; }
export BECAME="$1"
exec sh -c "$3"
`;

/**
 * Ad hoc commands are launched over HTTP and executed by a worker with the real Ansible
 * (docs/contract/ad-hoc-commands.md#run).
 */
describe('an ad hoc command', () => {
  let cluster: Cluster;
  let api: ApiCalls;
  let sink: HttpSink;
  let inventory: Row;
  let hosts: Row[];
  let credential: Row;
  let su: string;

  beforeAll(async () => {
    sink = await HttpSink.start();
    cluster = await Cluster.start();
    su = join(cluster.folder, 'bin', 'su');
    await mkdir(dirname(su));
    await writeFile(su, SU, { mode: 0o755 });
    api = await ApiCalls.inside(cluster, NETWORK);
    await cluster.workerInside(NETWORK);
    inventory = await api.call('POST', 'inventories/', {
      ...{
        name: 'Web',
        organization: 1,
        variables: 'ansible_connection: local\nansible_python_interpreter: /usr/bin/python3',
      },
    });
    const url = `inventories/${inventory.id}/hosts/`;
    hosts = [
      await api.call('POST', url, { name: 'web-1' }),
      await api.call('POST', url, { name: 'web-2' }),
    ];
    const [machine] = await cluster.rows<{ id: number }>(
      `SELECT id FROM credential_types WHERE kind = 'ssh'`,
    );
    credential = await api.call('POST', 'credentials/', {
      ...{ name: 'Machine', organization: 1, credential_type: machine?.id },
    });
  });
  afterAll(async () => {
    await cluster.stop();
    await sink.close();
  });

  const launch = (moduleArgs: string, fields: object = {}): Promise<Row> =>
    api.call('POST', 'ad_hoc_commands/', {
      ...{ inventory: inventory.id, credential: credential.id },
      ...{ module_name: 'shell', module_args: moduleArgs, ...fields },
    });
  const ended = ({ id }: Row, status = 'successful'): Promise<JobRow> =>
    cluster.becomes(id, status, 40_000);
  const outputOf = ({ id }: Row): Promise<string> =>
    api.text('GET', `ad_hoc_commands/${id}/stdout/?format=txt`, undefined, 'text/plain');

  it('shows its results by host, in events and as text, and sends a notification', async () => {
    const template = await api.call('POST', 'notification_templates/', {
      ...{ name: 'Hook', organization: 1, notification_type: 'webhook' },
      notification_configuration: { url: sink.url, headers: {} },
    });
    await api.call('POST', 'organizations/1/notification_templates_success/', { id: template.id });
    const command = await launch('echo hello from $((40 + 2))');
    await ended(command);
    const { results } = await api.call('GET', `ad_hoc_commands/${command.id}/events/?page_size=50`);
    const done = (results as Row[]).filter(({ event }) => event === 'runner_on_ok');
    expect(done.map(({ host }) => host).sort()).toEqual(hosts.map(({ id }) => id));
    expect(done[0]).toMatchObject({
      ...{ type: 'ad_hoc_command_event', event_display: 'runner_on_ok', changed: true },
      ad_hoc_command: command.id,
    });
    const output = await outputOf(command);
    expect(output.match(/^hello from 42$/gm)).toHaveLength(2);
    const shown = await api.call('GET', `ad_hoc_commands/${command.id}/`);
    expect(shown).toMatchObject({ failed: false, job_explanation: '', isolation: 'bubblewrap' });
    const [host] = hosts;
    const touched = await api.call('GET', `hosts/${host?.id}/ad_hoc_commands/`);
    expect((touched.results as Row[]).map(({ id }) => id)).toContain(command.id);
    const message = await eventually(() => {
      const [request] = sink.requests;
      if (!request) throw new Error('nothing was sent');
      return request;
    }, 20_000);
    expect(JSON.parse(message.body)).toMatchObject({ id: command.id, status: 'successful' });
    await api.call('DELETE', `notification_templates/${template.id}/`);
  });

  it('changes nothing in a check, and uses the options of the request', async () => {
    const asked = { job_type: 'check', diff_mode: true, forks: 3, verbosity: 1 };
    const command = await launch('touch /tmp/never', asked);
    await ended(command);
    const { results } = await api.call('GET', `ad_hoc_commands/${command.id}/events/?page_size=50`);
    const events = (results as Row[]).map(({ event }) => event);
    expect(events.filter((event) => event === 'runner_on_skipped')).toHaveLength(2);
    expect(events).not.toContain('runner_on_ok');
    const { job_args: args } = await api.call('GET', `ad_hoc_commands/${command.id}/`);
    for (const option of ['--check', '--diff', '--forks=3', '-v']) expect(args).toContain(option);
  });

  it('uses privilege escalation of the credential, with the password of the launch', async () => {
    const { credential_type: type } = credential;
    // Ansible treats a user named `toor` as an administrator, and adds no file permissions for other users.
    const other = await api.call('POST', 'credentials/', {
      ...{ name: 'Becoming', organization: 1, credential_type: type },
      inputs: { become_method: 'su', become_username: 'toor', become_password: 'ASK' },
    });
    const [first, second] = hosts;
    await api.call('PATCH', `hosts/${first?.id}/`, {
      variables: { ansible_become_exe: "{{ program | default('su') }}" },
    });
    const asked = {
      ...{ credential: other.id, limit: first?.name, become_enabled: true },
      extra_vars: JSON.stringify({ program: su }),
    };
    const ask = (become_password: string, fields: object = {}) =>
      launch('echo "became ${BECAME:-nobody}"', { ...asked, ...fields, become_password });

    await expect(launch('id', asked)).rejects.toThrow('become_password');
    const became = await ask('word-of-secrecy');
    await ended(became);
    expect(await outputOf(became)).toContain('became toor');
    const shown = await api.call('GET', `ad_hoc_commands/${became.id}/`);
    expect(shown).toMatchObject({ become_enabled: true });
    expect(shown.job_args).toMatch(/--become.*--become-method.*su.*--become-user.*toor/);
    expect(JSON.stringify(shown)).not.toContain('word-of-secrecy');

    const wrong = await ask('another word');
    await ended(wrong, 'failed');
    expect(await outputOf(wrong)).toContain('Authentication failure');
    const plain = await ask('word-of-secrecy', { become_enabled: false, limit: second?.name });
    await ended(plain);
    expect(await outputOf(plain)).toContain('became nobody');
  });

  it('can be canceled while it runs', async () => {
    const command = await launch('sleep 300');
    await ended(command, 'running');
    await api.call('POST', `ad_hoc_commands/${command.id}/cancel/`);
    await ended(command, 'canceled');
  });

  it('can be relaunched, and waits for an earlier command on its inventory', async () => {
    const command = await launch('echo once $((1 + 1)); sleep 1', { limit: 'web-2' });
    const again = await api.call('POST', `ad_hoc_commands/${command.id}/relaunch/`, {});
    expect(again).toMatchObject({ launch_type: 'relaunch', limit: 'web-2' });
    await ended(again);
    expect((await outputOf(again)).match(/^once 2$/gm)).toHaveLength(1);
    const [before] = await cluster.rows<{ in_turn: boolean }>(
      `SELECT one.finished <= two.started AS in_turn FROM unified_jobs one, unified_jobs two
       WHERE one.id = $1 AND two.id = $2`,
      [command.id, again.id],
    );
    expect(before).toEqual({ in_turn: true });
  });

  it('never runs on the machine of the worker, even if its host is disabled before it starts', async () => {
    const url = `inventories/${inventory.id}/hosts/`;
    const local = await api.call('POST', url, { name: 'localhost' });
    const blocker = await launch('sleep 3', { limit: 'web-1' });
    const command = await launch('echo here', { limit: 'localhost' });
    await api.call('PATCH', `hosts/${local.id}/`, { enabled: false });
    await ended(blocker);
    await ended(command, 'failed');
    expect(await outputOf(command)).toContain('no hosts to target');
  });
});
