/** The filter language of smart inventories on lists of hosts (docs/contract/resources.md#host-filters). */
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

const FACTS = {
  web: { system: 'Linux', cores: 8, ratio: 1.5, on: true, none: null, disks: [{ id: 'sda' }] },
  db: { system: 'Linux', cores: '8', net: { eth0: { mtu: 1500 } }, tags: ['a', 'b'], on: false },
};

let test: TestApp;
let inventory: Row;
beforeAll(async () => {
  test = await boot();
  const { make } = test;
  inventory = await make.inventory({ organization: test.home.organization.id, name: 'Plant' });
  const hosts: Record<string, Row> = {};
  for (const [name, fields] of Object.entries({
    web: { description: 'Front', variables: 'site: north' },
    db: { enabled: false },
    'a b': { description: 'null' },
  })) {
    hosts[name] = await make.host(inventory, { name, ...fields });
  }
  for (const [name, members] of Object.entries({ prod: ['web', 'db'], blue: ['web'] })) {
    const group = await make.group(inventory, { name });
    for (const member of members) {
      const url = `groups/${group.id}/hosts/`;
      await test.as.superuser.post(url, { id: hosts[member]?.id }).expect(204);
    }
  }
  for (const [name, facts] of Object.entries(FACTS)) {
    await test.database.execute(sql`
      INSERT INTO host_facts (host_id, facts)
      VALUES (${hosts[name]?.id}, ${JSON.stringify({ ...facts, name })}::jsonb)`);
  }
  await test.database.execute(sql`
    INSERT INTO host_facts (host_id, facts)
    VALUES (${hosts['a b']?.id}, '{"serial": 12345678901234567}')`);
});
afterAll(() => test.close());

const ask = (filter: string, list = `inventories/${inventory.id}/hosts/`) =>
  test.as.superuser.get(`${list}?host_filter=${encodeURIComponent(filter)}`);

it.each([
  ['name=web', 'web'],
  ['name="a b"', 'a b'],
  ['name=""', ''],
  ['name__icontains=B', 'a b,db,web'],
  ['name__in=web,db', 'db,web'],
  ['name=web or name=db', 'db,web'],
  ['name=web and enabled=false or name=db', 'db'],
  ['name=web and (enabled=false or name=db)', ''],
  ['enabled=true', 'a b,web'],
  ['description=null', ''],
  ['description="null"', 'a b'],
  ['last_job=null', 'a b,db,web'],
  ['last_job__status=failed', ''],
  ['variables__icontains=north', 'web'],
  ['groups__name=prod', 'db,web'],
  ['groups__name=prod and groups__name=blue', 'web'],
  ['groups=null', 'a b'],
  ['inventory__name=Plant', 'a b,db,web'],
  ['inventory__organization__name=nowhere', ''],
  ['search=front', 'web'],
  ['inventory__search=plant', 'a b,db,web'],
  ['groups__search=blue', 'web'],
])('the filter %s matches the hosts %s', async (filter, names) => {
  const { body } = await ask(filter).expect(200);
  expect(body.results.map(({ name }: Row) => name).join()).toBe(names);
  expect(body.count).toBe(body.results.length);
});

it.each([
  ['ansible_facts__system=Linux', 'db,web'],
  ['ansible_facts__system__exact=Linux', 'db,web'],
  ['ansible_facts__cores=8', 'web'],
  ['ansible_facts__cores="8"', 'db'],
  ['ansible_facts__ratio=1.5', 'web'],
  ['ansible_facts__cores=+08.0', 'web'],
  ['ansible_facts__serial=12345678901234567', 'a b'],
  ['ansible_facts__serial=12345678901234568', ''],
  ['ansible_facts__on=true', 'web'],
  ['ansible_facts__on="true"', ''],
  ['ansible_facts__none=null', 'web'],
  ['ansible_facts__none="null"', ''],
  ['ansible_facts__net__eth0__mtu=1500', 'db'],
  ['ansible_facts__tags[]=a', 'db'],
  ['ansible_facts__tags[]=c', ''],
  ['ansible_facts__disks[]__id=sda', 'web'],
  ['"ansible_facts__system"="Linux" and name=db', 'db'],
  ['ansible_facts__system=Linux and groups__name=blue', 'web'],
])('the filter of facts %s matches %s', async (filter, names) => {
  const { body } = await ask(filter).expect(200);
  expect(body.results.map(({ name }: Row) => name).join()).toBe(names);
});

it.each([
  ['name=', 'Invalid query name=: a value is expected at character 6'],
  ['not name=web', 'Invalid query not name=web: = is expected at character 5'],
  ['not__name=web', "Invalid query not__name=web: Host has no field named 'not__name'"],
  ['nope=1', "Invalid query nope=1: Host has no field named 'nope'"],
  ['name__first=1', 'Invalid query name__first=1: No related model for field name.'],
  ['enabled=maybe', 'Invalid query enabled=maybe: Unable to convert "maybe" to boolean'],
  ['name__regex="(("', 'The regular expression is not valid.'],
  [
    'groups__hosts__groups__name=a',
    'Invalid query groups__hosts__groups__name=a: Loops not allowed in filters, detected on field hosts.',
  ],
  ['name=a) or anything', 'Invalid query name=a) or anything: '],
  ['ansible_facts=1', 'Invalid query ansible_facts=1: '],
  ['ansible_facts__a____b=1', 'Invalid query ansible_facts__a____b=1: '],
  ['ansible_facts__a__icontains=1', 'ansible_facts does not support searching with __icontains'],
])('the filter %j is refused', async (filter, text) => {
  const { body } = await ask(filter).expect(400);
  expect(body.detail).toContain(text);
});

it('secrets, NUL and invalid lists are refused as in list filters', async () => {
  const { body } = await ask('created_by__password=x').expect(403);
  expect(body).toEqual({ detail: 'Filtering on password is not allowed.' });
  await test.as.superuser.get('hosts/?host_filter=name=%00').expect(400);
  await ask('name=web', 'groups/').expect(400);
});

it('a missing page is 404, and only readable hosts match', async () => {
  await test.as.superuser.get('hosts/?host_filter=name=web&page=9').expect(404);
  const user = await test.make.user();
  const { body } = await (
    await test.as.asUser(user)
  )
    .get('hosts/?host_filter=name=web')
    .expect(200);
  expect(body.count).toBe(0);
  const all = (await ask('name=web', 'hosts/').expect(200)).body;
  expect(all.count).toBe(1);
  const { body: none } = await test.as.superuser
    .get('hosts/?host_filter=name=web&name=db')
    .expect(200);
  expect(none.count).toBe(0);
});

it('OPTIONS describes the filter', async () => {
  const { body } = await test.as.superuser.options('hosts/').expect(200);
  expect(body.related_search_fields).toContain('ansible_facts');
});
