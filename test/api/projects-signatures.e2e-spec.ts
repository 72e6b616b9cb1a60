import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const field = 'signature_validation_credential';

it('a signature key must be usable by the caller, and is refused for manual projects', async () => {
  const { as, make, home } = test;
  const fields = { scm_type: 'git', scm_url: 'https://code.invalid/x.git' };
  const project = (more: object) => ({
    ...{ name: JSON.stringify(more), organization: home.organization.id },
    ...fields,
    ...more,
  });
  const machine = await make.credential();
  const inputs = { gpg_public_key: 'key' };
  const key = await make.credential({ namespace: 'gpg_public_key', inputs });
  const create = (more: object) => as.superuser.post('projects/', project(more));
  await create({ [field]: machine.id }).expect(400, {
    [field]: ["Credential kind must be 'cryptography'."],
  });
  await create({ [field]: key.id, scm_type: '', scm_url: '', local_path: 'own' }).expect(400, {
    [field]: ['Signatures of manual projects are not checked.'],
  });
  await as.orgAdmin.post('projects/', project({ [field]: key.id })).expect(403);
  const { body } = await create({ [field]: key.id }).expect(201);
  expect(body.summary_fields[field]).toMatchObject({ id: key.id, kind: 'gpg_public_key' });
  expect(body.related[field]).toBe(`/api/v2/credentials/${key.id}/`);
  await as.superuser
    .patch(`projects/${body.id}/`, { scm_type: '', scm_url: '' })
    .expect(400, { [field]: ['Signatures of manual projects are not checked.'] });
});
