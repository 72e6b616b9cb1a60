/** Rules that every `/<resource>/<id>/copy/` shares. */
import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { resource } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { HostsRepository } from '../../src/inventories/hosts.repository.js';
import { JobTemplatesRepository } from '../../src/job-templates/job-templates.repository.js';
import { boot, type TestApp } from '../support/boot.js';
import { endedOrWaiting, interleave } from '../support/interleave.js';
import { Samples } from '../support/samples.js';

const TYPES = [
  'credential',
  'execution_environment',
  'inventory',
  'job_template',
  'notification_template',
  'project',
  'workflow_job_template',
];

let test: TestApp;
let samples: Samples;
beforeAll(async () => {
  test = await boot();
  samples = new Samples(test);
});
afterAll(() => test.close());

it('all copyable resources are tested', () => {
  const { routes } = test.app.get(RouteTable, { strict: false });
  const copies = routes.filter(
    ({ method, pattern }) => method === 'POST' && pattern.endsWith('/:id/copy'),
  );
  expect(copies.map(({ pattern }) => pattern.split('/')[3]).sort()).toEqual(
    TYPES.map((type) => resource(type).path).sort(),
  );
});

it.each(TYPES)('a copy of a %s with a name that is taken is refused', async (type) => {
  const { id, name } = await samples.of(type);
  const url = `${resource(type).url(id)}copy/`;
  const copy = (body: object) => test.as.superuser.post(url, body);
  await copy({ name: 'Taken' }).expect(201);
  expect((await copy({ name: 'Taken' }).expect(400)).body).toEqual({
    name: [expect.stringMatching(/ already exists\.$/)],
  });
  expect((await copy({ name }).expect(400)).body).toEqual({
    name: [
      `The original object is already named ${String(name)}, a copy from it cannot have the same name.`,
    ],
  });
  expect((await copy({}).expect(400)).body).toEqual({ name: ['This field is required.'] });
});

it.each(['job_template', 'workflow_job_template'])(
  'a %s is not copied if it is deleted after the request was authorized',
  async (type) => {
    const { id } = await new Samples(test).of(type);
    let status = 0;
    await interleave(test.database, [
      () => test.database.execute(sql`DELETE FROM unified_job_templates WHERE id = ${id}`),
      async () => {
        const body = { name: 'Late' };
        ({ status } = await test.as.superuser.post(`${resource(type).url(id)}copy/`, body));
      },
      () => Promise.resolve(),
    ]);
    expect(status).toBe(404);
  },
);

it('a job template is not copied with a credential that is attached meanwhile and forbidden', async () => {
  const { as, home, make } = test;
  const organization = home.organization.id;
  const { id: project } = await make.project({ organization });
  const { id: inventory } = await make.inventory({ organization });
  const { id } = await make.jobTemplate({ project, inventory });
  const key = await make.credential({ organization: (await make.organization()).id });
  const templates = test.app.get(JobTemplatesRepository, { strict: false });
  const copy = templates.copyAttachments.bind(templates);
  jest.spyOn(templates, 'copyAttachments').mockImplementationOnce(async (...ids) => {
    await as.superuser.post(`job_templates/${id}/credentials/`, { id: key.id }).expect(204);
    await copy(...ids);
  });
  const { body } = await as.orgAdmin.post(`job_templates/${id}/copy/`, { name: 'With a key' });
  expect(body).toEqual({ detail: 'Insufficient access to Job Template credentials.' });
});

it('an inventory is copied as of one moment', async () => {
  const { as, home, make, database } = test;
  const inventory = await make.inventory({ organization: home.organization.id });
  const host = await make.host(inventory, { name: 'web' });
  const hosts = test.app.get(HostsRepository, { strict: false });
  const copy = hosts.copy.bind(hosts);
  let change = Promise.resolve();
  const replaceHost = async (): Promise<void> => {
    await as.superuser.delete(`hosts/${host.id}/`).expect(204);
    const group = { inventory: inventory.id, name: 'web' };
    await as.superuser.post('groups/', group).expect(201);
  };
  jest.spyOn(hosts, 'copy').mockImplementationOnce(async (...ids) => {
    await copy(...ids);
    change = replaceHost();
    await endedOrWaiting(database, change);
  });
  const { body } = await as.superuser
    .post(`inventories/${inventory.id}/copy/`, { name: 'Of one moment' })
    .expect(201);
  await change;
  expect(body).toMatchObject({ total_hosts: 1, total_groups: 0 });
});
