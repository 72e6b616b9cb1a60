/**
 * The command line's client handles inventory sources, their updates, ad hoc commands, and an export of all
 * of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { RunTransitions } from '../../src/runs/run-transitions.service.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { removeInventory } from '../support/inventory-deletion.js';
import { type Assets, Transfer } from '../client/command-line/transfer.js';
import { CommandLineClient } from '../client/command-line/command-line-client.js';

let test: TestApp;
let command: CommandLineClient;
let project: Row;
let token: string;
/** Response to the task that creates the source. */
let created: Record<string, unknown>;

beforeAll(async () => {
  test = await boot();
  token = await test.make.token(test.as.users.superuser);
  command = new CommandLineClient(test.url, { token });
  const { make, home } = test;
  const organization = home.organization.id;
  const scm = { scm_type: 'git', scm_url: 'https://127.0.0.1:9/x.git' };
  project = await make.project({ name: 'Code', organization, ...scm });
  await make.inventory({ name: 'Lab', organization });
  await make.credential({ name: 'Key', organization });
  await make.notificationTemplate({ name: 'Chat', organization });
  created = await command.create('inventory_sources', {
    ...{ name: 'From code', inventory: 'Lab', source: 'scm', source_project: project.id },
    ...{ source_path: 'hosts', source_vars: { A: [1] }, overwrite: true, verbosity: 2 },
  });
}, 60_000);
afterAll(() => test.close());

/** Ends a run as a worker does. */
async function end(id: number): Promise<void> {
  const transitions = test.app.get(RunTransitions, { strict: false });
  await transitions.move([id], { from: ['pending'], to: 'running' });
  await transitions.move([id], { from: ['running'], to: 'successful' });
}

it('the client manages inventory sources', async () => {
  expect(created).toMatchObject({
    ...{ source_vars: '{"A": [1]}', overwrite: true, verbosity: 2, source_project: project.id },
  });
  expect(await command.list('inventory_sources', { inventory: 'Lab' })).toHaveLength(1);
  await command.modify('inventory_sources', 'From code', { update_on_launch: true });
  expect(await command.get('inventory_sources', 'From code')).toMatchObject({
    update_on_launch: true,
  });
});

it('the client finds its resources at the API root, and none under reserved names', async () => {
  const { body: root } = await test.as.superuser.get('').expect(200);
  const own = ['inventory_updates', 'constructed_inventory', 'ad_hoc_commands'];
  own.push('host_metrics', 'host_metric_summary_monthly', 'inventory_sources', 'inventory');
  expect(Object.keys(root)).toEqual(expect.arrayContaining(own));
  const aliases = [
    'inventories',
    'inventory_source',
    'inventory_update',
    'ad_hoc',
    'host',
    'group',
  ];
  for (const alias of aliases) expect(root).not.toHaveProperty(alias);
});

it('the client associates notifications with sources', async () => {
  for (const event of ['started', 'success', 'error']) {
    const list = `notification_templates_${event}`;
    const place = ['inventory_sources', 'From code'] as const;
    const other = ['notification_templates', 'Chat'] as const;
    expect(await command.tie('associate', place, list, other)).toMatchObject([{ name: 'Chat' }]);
  }
});

it('the client updates sources, follows the output to its end, and shows it again', async () => {
  const started = command.start('inventory_sources', 'From code', {}, 0.02);
  const run = await eventually(async () => {
    const [row] = await test.database.rows<Row>(
      sql`SELECT id FROM unified_jobs WHERE type = 'inventory_update'`,
    );
    if (!row) throw new Error('There is no update yet.');
    return row;
  });
  await test.database.execute(sql`
    INSERT INTO job_events (job_id, uuid, counter, event, stdout, start_line, end_line)
    VALUES (${run.id}, 'a', 1, 'verbose', 'one' || chr(10) || 'two', 0, 2),
      (${run.id}, 'b', 2, 'verbose', 'three', 2, 3)`);
  await sleep(60);
  await end(run.id);
  expect(await started).toMatchObject({
    run: { status: 'successful', type: 'inventory_update' },
    output: 'one\ntwo\nthree\n',
  });
  expect(await command.output('inventory_updates', run.id)).toContain('three');
});

it('the client runs commands, and shows their output', async () => {
  const created = await command.create('ad_hoc_commands', {
    ...{ inventory: 'Lab', credential: 'Key', module_name: 'ping', verbosity: 1 },
  });
  expect(created).toMatchObject({ module_name: 'ping', status: 'pending', verbosity: 1 });
  expect(await command.output('ad_hoc_commands', Number(created.id))).toBe('');
  expect(await command.list('ad_hoc_commands', { module_name: 'ping' })).toHaveLength(1);
  await end(Number(created.id));
});

describe('an export of inventories', () => {
  const RESOURCES = ['projects', 'inventory', 'inventory_sources', 'schedules'];
  const transfer = (): Promise<Transfer> => Transfer.start(test.url, { token });
  const exported = async (): Promise<Assets> => (await transfer()).export(RESOURCES);

  it('restores everything, and changes nothing the second time', async () => {
    const { make } = test;
    const organization = test.home.organization.id;
    const lab = await command.get('inventory', 'Lab');
    const host = await make.host(lab as Row, { name: 'web-1', variables: 'a: 1' });
    const group = await make.group(lab as Row, { name: 'webs' });
    const child = await make.group(lab as Row, { name: 'inner' });
    const post = (path: string, body: object) => test.as.superuser.post(path, body);
    await post(`groups/${group.id}/hosts/`, { id: host.id }).expect(204);
    await post(`groups/${group.id}/children/`, { id: child.id }).expect(204);
    await post(`inventories/${lab.id}/labels/`, { name: 'red', organization }).expect(201);
    await command.create('inventory', {
      ...{ name: 'Smart', organization: 'Home', kind: 'smart', host_filter: 'name=web-1' },
    });
    const [source] = await command.list('inventory_sources', { name: 'From code' });
    await post(`inventory_sources/${source?.id}/schedules/`, {
      ...{ name: 'Nightly', rrule: 'DTSTART:20300101T000000Z RRULE:FREQ=DAILY;INTERVAL=1' },
    }).expect(201);
    // Hosts of an inventory source are not exported: an update of the source creates them again.
    const brought = await make.host(lab as Row, { name: 'brought' });
    await test.database.execute(sql`
      INSERT INTO inventory_source_hosts (inventory_source_id, host_id)
      VALUES (${source?.id}, ${brought.id})`);
    const notified = ['inventory_sources', 'From code'] as const;
    const chat = ['notification_templates', 'Chat'] as const;
    await command.tie('associate', notified, 'notification_templates_started', chat);
    const before = await exported();
    expect(before.inventory_sources).toMatchObject([
      {
        ...{ name: 'From code', source_path: 'hosts', source_vars: '{"A": [1]}' },
        source_project: { type: 'project', name: 'Code' },
        related: {
          notification_templates_started: [{ type: 'notification_template', name: 'Chat' }],
          schedules: [{ name: 'Nightly' }],
        },
      },
    ]);
    const inventories = before.inventory?.find(({ name }) => name === 'Lab');
    expect(inventories).toMatchObject({
      related: {
        groups: [{ name: 'inner' }, { name: 'webs', related: { hosts: [{ name: 'web-1' }] } }],
        hosts: [{ name: 'web-1' }],
        labels: [{ name: 'red' }],
      },
    });
    await (await transfer()).import(before);
    expect(await exported()).toEqual(before);
    for (const name of ['Smart', 'Lab']) {
      const { id } = await command.get('inventory', name);
      await command.delete('inventory', name);
      await removeInventory(test, Number(id));
    }
    // The client attaches labels that it creates, but not existing ones.
    await test.database.execute(sql`DELETE FROM labels`);
    expect((await exported()).inventory_sources).toEqual([]);
    await (await transfer()).import(before);
    expect(await exported()).toEqual(before);
  });
});
