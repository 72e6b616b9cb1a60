import {
  hostVariables,
  type InventoryOptions,
  type AnsibleInventoryRows,
  parseSubset,
  buildInventory,
} from './ansible-inventory.js';

const HOST = { id: 1, name: 'one', variables: '', enabled: true };
const NOTHING: AnsibleInventoryRows = {
  variables: '',
  groups: [],
  hosts: [],
  groupHosts: [],
  groupChildren: [],
};

const ROWS: AnsibleInventoryRows = {
  variables: 'site: north',
  groups: [
    { id: 2, name: 'web', variables: '{"port": 80}' },
    { id: 1, name: 'empty', variables: '' },
    { id: 3, name: 'dc', variables: '' },
  ],
  hosts: [
    { id: 13, name: 'c', variables: '', enabled: false },
    { id: 11, name: 'a', variables: 'x: 1', enabled: true },
    { id: 14, name: 'd', variables: '', enabled: true },
    { id: 12, name: 'b', variables: '', enabled: true },
  ],
  groupHosts: [
    { groupId: 2, hostId: 12 },
    { groupId: 2, hostId: 11 },
    { groupId: 2, hostId: 13 },
    { groupId: 99, hostId: 14 },
  ],
  groupChildren: [{ parentId: 3, childId: 2 }],
};

describe('buildInventory', () => {
  it('writes groups, children and variables, and omits empty keys', async () => {
    expect(await buildInventory(ROWS)).toEqual({
      all: { hosts: ['d'], children: ['dc', 'empty', 'web'], vars: { site: 'north' } },
      web: { hosts: ['a', 'b'], vars: { port: 80 } },
      dc: { children: ['web'] },
    });
  });

  it('adds the variables of hosts, and the facts that the controller stores', async () => {
    expect((await buildInventory(ROWS, { hostvars: true }))['_meta']).toEqual({
      hostvars: { a: { x: 1 }, b: {}, d: {} },
    });
    const { hostvars } = (await buildInventory(ROWS, { hostvars: true, towervars: true }))[
      '_meta'
    ] as {
      hostvars: Record<string, unknown>;
    };
    expect(hostvars['a']).toEqual({
      x: 1,
      remote_tower_enabled: 'true',
      remote_tower_id: 11,
      remote_host_enabled: 'true',
      remote_host_id: 11,
    });
  });

  it.each<[string, AnsibleInventoryRows, InventoryOptions]>([
    ['no hosts', NOTHING, {}],
    ['disabled hosts alone', { ...NOTHING, hosts: [{ ...HOST, enabled: false }] }, {}],
    [
      'a slice that no host falls into',
      { ...NOTHING, hosts: [HOST] },
      { slice: { number: 2, count: 2 } },
    ],
  ])(
    'writes `all` with a key for %s, because Ansible would read it as a host',
    async (_, rows, options) => {
      expect(await buildInventory(rows, options)).toEqual({ all: { hosts: [] } });
    },
  );

  it('omits the empty list if `all` has another key', async () => {
    expect(await buildInventory({ ...NOTHING, variables: 'x: 1' })).toEqual({
      all: { vars: { x: 1 } },
    });
  });

  it('includes disabled hosts on request', async () => {
    const inventory = await buildInventory(ROWS, { all: true, hostvars: true, towervars: true });
    expect(inventory['web']).toMatchObject({ hosts: ['a', 'b', 'c'] });
    expect(inventory['_meta']).toMatchObject({
      hostvars: { c: { remote_tower_enabled: 'false' } },
    });
  });

  it('assigns the hosts of a slice by name', async () => {
    const slice = async (number: number): Promise<unknown> =>
      Object.keys(
        (
          (await buildInventory(ROWS, { hostvars: true, slice: { number, count: 2 } }))[
            '_meta'
          ] as {
            hostvars: object;
          }
        ).hostvars,
      );
    expect(await slice(1)).toEqual(['a', 'd']);
    expect(await slice(2)).toEqual(['b']);
    expect((await buildInventory(ROWS, { slice: { number: 2, count: 2 } }))['web']).toMatchObject({
      hosts: ['b'],
    });
  });

  it('accepts a group whose name is a property of the prototype', async () => {
    const groups = [{ id: 1, name: '__proto__', variables: 'a: 1' }];
    const inventory = await buildInventory({ ...ROWS, groups, groupHosts: [], groupChildren: [] });
    expect(Object.keys(inventory)).toEqual(['all', '__proto__']);
  });

  it('names the host whose variables cannot be parsed', async () => {
    const host = { id: 1, name: 'bad', variables: '[', enabled: true };
    await expect(buildInventory({ ...ROWS, hosts: [host] }, { hostvars: true })).rejects.toThrow(
      'host bad: Cannot parse',
    );
    expect(() => hostVariables(host)).toThrow('host bad: Cannot parse');
  });

  it('reads a hundred thousand hosts in reasonable time', async () => {
    const hosts = Array.from({ length: 100_000 }, (_, index) => ({
      id: index,
      name: `host-${index}`,
      variables: '{"a": 1}',
      enabled: true,
    }));
    const groupHosts = hosts.map((host) => ({ groupId: 2, hostId: host.id }));
    // Processor time, which is independent of the load of the machine.
    const startedAt = process.cpuUsage();
    await buildInventory({ ...ROWS, hosts, groupHosts }, { hostvars: true, towervars: true });
    expect(process.cpuUsage(startedAt).user).toBeLessThan(5_000_000);
  });
});

describe('parseSubset', () => {
  it.each([
    ['slice1of3', { number: 1, count: 3 }],
    ['slice3of3', { number: 3, count: 3 }],
    ['slice4of3', null],
    ['slice0of3', null],
    ['1of3', null],
    ['', null],
  ])('reads %j', (text, expected) => {
    expect(parseSubset(text)).toEqual(expected);
  });
});
