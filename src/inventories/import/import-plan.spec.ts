import { parseExact } from '../../common/exact-json.js';
import { cycleIn } from './cycles.js';
import { ImportError } from './delivery.js';
import { digestOf, planImport, type ImportOptions } from './import-plan.js';
import type { KnownHost } from './known-objects.js';
import { mergedVariables } from './variable-merge.js';
import { readDelivery } from './delivery-reader.js';
import { onlyHosts, withoutEmptyGroups } from './delivery-restrictions.js';

const RULES = { enabled: null, instanceId: [] };
const OPTIONS: ImportOptions = { overwrite: false, overwriteVars: false, hasInstanceIds: true };

const host = (id: number, name: string, values: Partial<KnownHost> = {}): KnownHost => ({
  ...{ id, name, digest: digestOf(''), is_imported: true, is_claimed: true, has_others: false },
  ...{ delivered_digest: null, merged_digest: null, instance_id: '', enabled: true },
  ...values,
});

describe('the imported document', () => {
  it('contains groups, hosts with ports, and variables for all', async () => {
    const { groups, hosts, variables } = await readDelivery(
      {
        all: { children: ['ungrouped', 'web'], vars: { dns: '1.1.1.1' } },
        ungrouped: { hosts: ['lonely'] },
        web: { hosts: ['w:2222', '[::1]:22'], children: ['inner'], vars: { a: 1 } },
        old: ['w:2222'],
        _meta: { hostvars: { 'w:2222': { b: 2, _svc_description: 'A web server' } } },
      },
      RULES,
    );
    expect(variables).toEqual({ dns: '1.1.1.1' });
    expect([...groups.keys()]).toEqual(['web', 'inner', 'old']);
    expect([...(groups.get('web')?.hosts ?? [])]).toEqual(['w', '::1']);
    expect(hosts.get('w')).toMatchObject({
      description: 'A web server',
      variables: { ansible_port: 2222, b: 2 },
    });
    expect([...hosts.keys()]).toEqual(['lonely', 'w', '::1']);
  });

  it.each([
    [{ g: { hosts: ['{{ x }}'] } }, /Inline Jinja variables are not allowed/],
    [{ g: { hosts: ['a{%b%}'] } }, /Inline Jinja variables are not allowed/],
    [{ g: { hosts: ['{{\0}}'] } }, /cannot be stored: "\{\{\\u0000\}\}"/],
    [{ '\0': 3 }, /a group cannot be stored: "\\u0000"/],
    [{ g: { hosts: ['g'] } }, /same name: g/],
    [{ g: { hosts: ['all'] } }, /A host cannot be named all/],
    [{ g: { hosts: ['ungrouped:22'] } }, /A host cannot be named ungrouped/],
    [{ _meta: { hostvars: { all: {} } } }, /A host cannot be named all/],
    [{ g: 3 }, /The group g/],
    [
      { g: { vars: { _svc_description: 'a\0' } } },
      /The description of the group g cannot be stored/,
    ],
    [
      { _meta: { hostvars: { h: { _svc_description: '\ud800' } } } },
      /The description of the host h/,
    ],
    [[], /not a JSON object/],
  ])('must not be %j', async (document, text) => {
    await expect(readDelivery(document, RULES)).rejects.toThrow(text);
    await expect(readDelivery(document, RULES)).rejects.toBeInstanceOf(ImportError);
  });

  it('checks long names in linear time', async () => {
    const startedAt = process.cpuUsage();
    const document = { g: { hosts: ['{'.repeat(1_000_000)] } };
    await expect(readDelivery(document, RULES)).rejects.toThrow(
      /^The name of a host is longer than 512 characters: it starts with "\{{512}"$/,
    );
    const hosts = Array.from({ length: 5000 }, (_, index) => `${'{'.repeat(500)}${index}`);
    expect((await readDelivery({ g: { hosts } }, RULES)).hosts.size).toBe(hosts.length);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(5_000_000);
  });

  it('reads the variables of a host once, not for each of its groups', async () => {
    const variables = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`v${at}`, at]));
    const hosts = Array.from({ length: 1000 }, (_, at) => `h${at}`);
    const hostvars = Object.fromEntries(hosts.map((name) => [name, { ...variables }]));
    const groups = Array.from({ length: 300 }, (_, at) => [`g${at}`, { hosts }] as const);
    const startedAt = process.cpuUsage();
    const document = { ...Object.fromEntries(groups), _meta: { hostvars } };
    expect((await readDelivery(document, RULES)).hosts.get('h7')?.variables).toEqual(variables);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(2_500_000);
  });

  it('adds the variables that groups have for a host, without copying those of the host', async () => {
    const own = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`v${at}`, at]));
    const groups = Array.from(
      { length: 2000 },
      (_, at) => [`g${at}`, { hosts: { h: { v7: 'ignored', last: at } } }] as const,
    );
    const startedAt = process.cpuUsage();
    const document = { ...Object.fromEntries(groups), _meta: { hostvars: { h: own } } };
    const { hosts } = await readDelivery(document, RULES);
    expect(hosts.get('h')?.variables).toEqual({ ...own, last: 1999 });
    expect(process.cpuUsage(startedAt).user).toBeLessThan(2_500_000);
  });

  it.each(['hosts', 'children'])('has a maximum number of %s', async (kind) => {
    const names = Array.from({ length: 500_001 }, (_, index) => `n${index}`);
    await expect(readDelivery({ g: { [kind]: names } }, RULES)).rejects.toThrow(
      'The inventory has more than 500000 hosts and groups.',
    );
  });

  it('sets whether hosts are enabled, and their ids at the source', async () => {
    const rules = {
      enabled: { paths: ['guest.gueststate'], value: 'Running', ignoresCase: true },
      instanceId: ['none', 'config.uuid'],
    };
    const hostvars = {
      on: { guest: { guestState: 'running' }, config: { uuid: 7 } },
      off: { guest: { guestState: 'notRunning' } },
      unset: {},
    };
    const { hosts } = await readDelivery({ _meta: { hostvars } }, rules);
    expect([...hosts.values()].map(({ isEnabled }) => isEnabled)).toEqual([true, false, null]);
    expect(hosts.get('on')?.instanceId).toBe('7');
    const truth = { ...rules, enabled: { paths: ['state'], value: '', ignoresCase: false } };
    const withTruth = await readDelivery(
      { _meta: { hostvars: { a: { state: 'no' }, b: { state: true }, c: { state: 0 } } } },
      truth,
    );
    expect([...withTruth.hosts.values()].map(({ isEnabled }) => isEnabled)).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('is filtered by hosts, and by groups that are not empty', async () => {
    const delivery = await readDelivery({ a: ['x', 'y'], b: ['y'], c: { children: ['b'] } }, RULES);
    const left = withoutEmptyGroups(onlyHosts(delivery, new Set(['x'])));
    expect([...left.hosts.keys()]).toEqual(['x']);
    expect([...left.groups.keys()]).toEqual(['a', 'c']);
  });
});

describe('the import of hosts', () => {
  const plan = async (
    document: object,
    known: readonly KnownHost[],
    options: Partial<ImportOptions> = {},
  ) =>
    planImport(
      await readDelivery(document, { enabled: null, instanceId: ['id'] }),
      { groups: [], hosts: known },
      { ...OPTIONS, ...options },
    );
  const named = (...names: string[]) => ({ _meta: { hostvars: tableOf(names) } });
  const tableOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]));

  it('keeps missing hosts without overwrite', async () => {
    const { hosts } = await plan(named('new'), [host(1, 'old')]);
    expect(hosts).toMatchObject({ created: [{ name: 'new' }], removed: [], released: [] });
  });

  it('removes missing hosts with overwrite, except hosts of other origins', async () => {
    const { hosts } = await plan(
      named('kept'),
      [
        host(1, 'kept'),
        host(2, 'gone'),
        host(3, 'shared', { has_others: true }),
        host(4, 'adopted', { is_imported: false }),
        host(5, 'by hand', { is_claimed: false, is_imported: false }),
      ],
      { overwrite: true },
    );
    expect(hosts.removed.map(({ id }) => id)).toEqual([2]);
    expect(hosts.released.map(({ id }) => id)).toEqual([3, 4]);
  });

  it('matches hosts by id before name, and only those of the same source', async () => {
    const document = { _meta: { hostvars: { b: { id: 'i-1' }, a: { id: 'i-2' } } } };
    const { hosts } = await plan(document, [
      host(1, 'a', { instance_id: 'i-1' }),
      host(2, 'b', { instance_id: 'i-2' }),
      host(3, 'c', { instance_id: 'i-1', is_claimed: false }),
    ]);
    expect(hosts.matched.map(({ known, planned }) => [known.id, planned.name])).toEqual([
      [1, 'b'],
      [2, 'a'],
    ]);
  });

  it('keeps the hosts that share an id, by their names', async () => {
    const document = { _meta: { hostvars: { a: { id: 'i-1' }, b: { id: 'i-1' } } } };
    const known = [host(1, 'a', { instance_id: 'i-1' }), host(2, 'b', { instance_id: 'i-1' })];
    const { hosts } = await plan(document, known, { overwrite: true });
    expect(hosts.matched.map(({ known: { id }, planned }) => [id, planned.name])).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
    expect(hosts).toMatchObject({ created: [], removed: [] });
  });

  it.each([
    ['a key', '{"__proto__": 1}', 'the key "__proto__" is not allowed'],
    ['a nested key', '{"a": [{"__proto__": 1}]}', 'the key "__proto__" is not allowed'],
    ['a number', `{"a": ${'9'.repeat(400)}}`, 'numbers must be finite'],
  ])('refuses variables that runs could not read: %s', async (_name, text, reason) => {
    const variables = parseExact(text);
    const fault = (noun: string) => `The variables of the ${noun} cannot be stored: ${reason}.`;
    await expect(plan({ g: { vars: variables } }, [])).rejects.toThrow(fault('group g'));
    await expect(plan({ _meta: { hostvars: { h: variables } } }, [])).rejects.toThrow(
      fault('host h'),
    );
  });

  it('refuses a name that another host keeps', async () => {
    const document = { _meta: { hostvars: { b: { id: 'i-1' } } } };
    const known = [host(1, 'a', { instance_id: 'i-1' }), host(2, 'b', { is_claimed: false })];
    await expect(plan(document, known)).rejects.toThrow('A host cannot be named b');
  });
});

describe('the search for cycles of groups', () => {
  it('finds a cycle behind a group with many children in linear time', () => {
    const members = Array.from({ length: 100_000 }, (_, index) => `g${index}`);
    const pairs = { groups: members.map(() => 'top'), members };
    const startedAt = process.cpuUsage();
    expect(cycleIn(pairs)).toBeNull();
    const cyclic = { groups: [...pairs.groups, 'g0'], members: [...members, 'top'] };
    expect(cycleIn(cyclic)).toEqual(['top', 'g0', 'top']);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(5_000_000);
  });
});

describe('the import of variables', () => {
  const merged = (present: object, before: object, now: object, others: string[] = []) =>
    mergedVariables({ ...present }, { before: { ...before }, now: { ...now }, others });

  it('gives those of the source precedence over existing ones', () => {
    expect(merged({ a: 1, own: 1 }, {}, { a: 2 })).toEqual({ a: 2, own: 1 });
  });

  it('removes those that the source no longer has, except those of other origins', () => {
    expect(merged({ a: 1, b: 1 }, { a: 1, b: 1 }, { b: 1 })).toEqual({ b: 1 });
    expect(merged({ a: 2 }, { a: 1 }, {})).toEqual({ a: 2 });
    expect(merged({ a: 1 }, { a: 1 }, {}, ['a'])).toEqual({ a: 1 });
  });
});
