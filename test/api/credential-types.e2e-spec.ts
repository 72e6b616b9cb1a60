import { CredentialTypesRepository } from '../../src/credentials/credential-types.repository.js';
import { MANAGED_CREDENTIAL_TYPES } from '../../src/credentials/types/managed-types.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventLoopTime } from '../support/event-loop.js';
import { PERSONA_NAMES } from '../support/personas.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const CLOUD = {
  name: 'Cloud',
  kind: 'cloud',
  inputs: {
    fields: [
      { id: 'user', label: 'User' },
      { id: 'key', label: 'Key', type: 'string', secret: true },
    ],
    required: ['user'],
  },
  injectors: { env: { CLOUD_USER: '{{ user }}' }, extra_vars: { cloud_key: '{{ key }}' } },
};

const managed = async (namespace: string): Promise<Row> =>
  (await test.database.row<Row>(sql`
    SELECT * FROM credential_types WHERE namespace = ${namespace}`))!;

describe('managed types', () => {
  it('exist, and all users can read them', async () => {
    const { body } = await test.as.nobody.get('credential_types/?managed=true').expect(200);
    expect(body.count).toBe(MANAGED_CREDENTIAL_TYPES.length);
    const token = await test.as.nobody
      .get('credential_types/?namespace=service_a_token')
      .expect(200);
    expect(token.body.results[0]).toMatchObject({
      kind: 'token',
      managed: true,
      summary_fields: { user_capabilities: { edit: false, delete: false } },
    });
  });

  it('never change, even for superusers', async () => {
    const { id } = await managed('ssh');
    const changed = await test.as.superuser
      .patch(`credential_types/${id}/`, { name: 'X' })
      .expect(403);
    expect(changed.body).toEqual({
      detail: 'Modifications not allowed for managed credential types',
    });
    const deleted = await test.as.superuser.delete(`credential_types/${id}/`).expect(403);
    expect(deleted.body).toEqual({ detail: 'Deletion not allowed for managed credential types' });
  });

  it('are updated to the version: missing ones are restored, and ids stay the same', async () => {
    const { id } = await managed('ssh');
    await test.database.execute(sql`DELETE FROM credential_types WHERE namespace = 'registry'`);
    await test.database.execute(sql`
      UPDATE credential_types SET inputs = '{}', name = 'Old name' WHERE namespace = 'ssh'`);
    const types = test.app.get(CredentialTypesRepository, { strict: false });
    const sync = () => types.syncManaged();
    await sync();
    const before = await test.database.rows(sql`SELECT * FROM credential_types ORDER BY id`);
    await sync();
    expect(await test.database.rows(sql`SELECT * FROM credential_types ORDER BY id`)).toEqual(
      before,
    );
    const shipped = before.filter(({ managed: isManaged }) => isManaged);
    expect(shipped).toHaveLength(MANAGED_CREDENTIAL_TYPES.length);
    expect(await managed('ssh')).toMatchObject({ id, name: 'Machine' });
  });

  it('take their names back from custom types, which keep everything else', async () => {
    const { id, inputs, injectors, kind } = await test.make.row('credential_type', {
      ...CLOUD,
      name: 'A cloud of ours',
    });
    await test.database.execute(sql`DELETE FROM credential_types WHERE namespace = 'openstack'`);
    await test.database.execute(
      sql`UPDATE credential_types SET name = 'OpenStack' WHERE id = ${id}`,
    );
    await test.app.get(CredentialTypesRepository, { strict: false }).syncManaged();
    expect(await managed('openstack')).toMatchObject({ name: 'OpenStack', managed: true });
    const row = await test.database.row(sql`SELECT * FROM credential_types WHERE id = ${id}`);
    expect(row).toMatchObject({
      ...{ inputs, injectors, kind, managed: false },
      name: `OpenStack (custom ${id})`,
    });
    await test.as.superuser.delete(`credential_types/${id}/`).expect(204);
  });
});

describe('custom types', () => {
  it('are created by superusers, with their defaults', async () => {
    const { body } = await test.as.superuser
      .post('credential_types/', { ...CLOUD, managed: true, namespace: 'x' })
      .expect(201);
    expect(body).toMatchObject({ managed: false, namespace: null, injectors: CLOUD.injectors });
    expect(body.inputs.fields[0]).toEqual({ id: 'user', label: 'User', type: 'string' });
    const again = await test.as.superuser.post('credential_types/', CLOUD).expect(400);
    expect(again.body).toEqual({
      __all__: ['Credential type with this Name and Kind already exists.'],
    });
  });

  it.each(PERSONA_NAMES.filter((name) => name !== 'superuser'))(
    'cannot be created by %s',
    async (name) => {
      await test.as[name].post('credential_types/', { ...CLOUD, name }).expect(403);
    },
  );

  it.each([
    [{ kind: 'ssh' }, { kind: ["Must be 'cloud' or 'net', not ssh"] }],
    [{ kind: 'none' }, { kind: ['"none" is not a valid choice.'] }],
    [
      {
        inputs: {
          fields: [
            { id: 'a', label: 'A' },
            { id: 'a', label: 'B' },
          ],
        },
      },
      { inputs: ['a defined twice'] },
    ],
    [
      { inputs: { bogus: 1 } },
      { inputs: ["Additional properties are not allowed ('bogus' was unexpected)"] },
    ],
    [
      { inputs: { fields: [{ id: 'tower', label: 'T' }] } },
      { inputs: ['"tower" is a reserved field name'] },
    ],
    [
      { injectors: { env: { ANSIBLE_X: 'a' } } },
      {
        injectors: [
          'Environment variable ANSIBLE_X may affect Ansible configuration so its use is not allowed in credentials.',
        ],
      },
    ],
  ])('are refused with %j', async (fields, errors) => {
    const body = { ...CLOUD, name: 'Refused', ...fields };
    const answer = await test.as.superuser.post('credential_types/', body).expect(400);
    expect(answer.body).toEqual(errors);
  });

  it('refuse templates that use undeclared inputs', async () => {
    const body = { ...CLOUD, name: 'Refused', injectors: { env: { X: '{{ nope }}' } } };
    const answer = await test.as.superuser.post('credential_types/', body).expect(400);
    expect(answer.body.injectors[0]).toContain('X uses an undefined field');
  });

  it('keep their inputs while credentials use them', async () => {
    const type = await test.make.row('credential_type', { ...CLOUD, name: 'Used' });
    const credential = await test.make.credential({
      credential_type: type.id,
      inputs: { user: 'u' },
    });
    const path = `credential_types/${type.id}/`;
    const change = (body: object) => test.as.superuser.patch(path, body);
    expect((await change({ inputs: { fields: [] }, injectors: {} }).expect(403)).body).toEqual({
      detail: 'Modifications to inputs are not allowed for credential types that are in use',
    });
    await change({ kind: 'net' }).expect(403);
    await change({ name: 'Renamed', inputs: CLOUD.inputs, injectors: {} }).expect(200);
    const turned = {
      required: CLOUD.inputs.required,
      fields: CLOUD.inputs.fields.map((one) => Object.fromEntries(Object.entries(one).reverse())),
    };
    await change({ inputs: turned }).expect(200);
    const moved = { ...CLOUD.inputs, fields: [...CLOUD.inputs.fields].reverse() };
    await change({ inputs: moved }).expect(403);
    const kept = await test.as.superuser.delete(path).expect(403);
    expect(kept.body).toEqual({
      detail: `Credential types that are in use cannot be deleted: credential ${credential.id}.`,
    });
    await test.as.superuser.delete(`credentials/${credential.id}/`).expect(204);
    await change({ inputs: { fields: [] } }).expect(200);
    await test.as.superuser.delete(path).expect(204);
  });
});

describe('templates that are slow to parse', () => {
  const TOO_MUCH = {
    injectors: ['All templates together may not have more than 65536 characters.'],
  };
  /** The template parser looks for a tag after each of the spaces. */
  const slow = (templates: number): Record<string, unknown> => ({
    ...CLOUD,
    injectors: {
      env: Object.fromEntries(
        Array.from({ length: templates }, (_, at) => [`A${at}`, `{%${' '.repeat(60_000)}`]),
      ),
    },
  });

  it.each([
    ['120 KB', 2],
    ['260 KB', 4],
  ])('%s are refused without roles, and return errors to superusers', async (_, n) => {
    const { nobody, superuser } = test.as;
    const work = await eventLoopTime(async () => {
      await nobody.post('credential_types/', slow(n)).expect(403);
      const { body } = await superuser.post('credential_types/', slow(n)).expect(400);
      expect(body).toEqual(TOO_MUCH);
    });
    expect(work).toBeLessThan(300);
  });

  it('are checked outside the event loop, with a total limit', async () => {
    const { superuser } = test.as;
    const templates = (length: number): Record<string, unknown> => ({
      ...CLOUD,
      injectors: {
        env: Object.fromEntries(
          Array.from({ length }, (_, at) => [`A${at}`, `${' '.repeat(4_080)}{{ user }}`]),
        ),
      },
    });
    const work = await eventLoopTime(() =>
      superuser.post('credential_types/', { ...templates(16), name: 'Slow' }).expect(201),
    );
    expect(work).toBeLessThan(60);
    const { body } = await superuser.post('credential_types/', templates(17)).expect(400);
    expect(body).toEqual(TOO_MUCH);
  });
});
