import type { Row } from '../../src/common/resource/define-resource.js';
import { CredentialSecrets } from '../../src/credentials/credential-secrets.service.js';
import { LookupSession } from '../../src/credentials/external/lookup-session.js';
import { Database } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { eventually } from '../support/eventually.js';
import { LOST_SECRET } from '../support/lost-key.js';
import type { PersonaName } from '../support/personas.js';
import { sampleKeys } from '../support/payloads/ssh-keys.js';
import { samePageQueries } from '../support/queries.js';

const CANARY = 'canary-3f1c-never-shown';
const ENCRYPTED = '$encrypted$';

let test: TestApp;
let machine: number;
beforeAll(async () => {
  test = await boot();
  const type = await test.database.row<Row>(sql`
    SELECT id FROM credential_types WHERE namespace = 'ssh'`);
  machine = type!.id;
});
afterAll(() => test.close());

let made = 0;
const draft = (fields: object = {}) => ({
  name: `Credential ${(made += 1)}`,
  credential_type: machine,
  organization: test.home.organization.id,
  ...fields,
});
const secrets = { username: 'deploy', password: CANARY, become_password: 'ASK' };
const open = (ids: readonly number[]) =>
  test.app.get(CredentialSecrets, { strict: false }).open(ids, new LookupSession());
const opened = async (id: number) => (await open([id])).get(id)!;

it('credentials are opened in the order of their ids, also after a change', async () => {
  const ids = await Promise.all(
    ['one', 'two', 'three'].map(async (name) => Number((await test.make.credential({ name })).id)),
  );
  for (const id of ids) await test.as.superuser.patch(`credentials/${id}/`, { description: 'x' });
  await test.as.superuser.patch(`credentials/${ids[0]}/`, { description: 'y' });
  const all = await open(ids);
  expect([...all.keys()]).toEqual(ids.toSorted((left, right) => left - right));
});

describe('SSH keys', () => {
  const key = sampleKeys().plain['pkcs8'] ?? '';
  const lines = key.trim().split('\n');
  const types: [string, () => Promise<{ type: number; id: string }>][] = [
    ['a machine', () => Promise.resolve({ type: machine, id: 'ssh_key_data' })],
    [
      'a custom type',
      async () => {
        const fields = [
          { id: 'their_key', label: 'Key', type: 'string', format: 'ssh_private_key' },
        ];
        const { body } = await test.as.superuser
          .post('credential_types/', {
            name: `Keys ${(made += 1)}`,
            kind: 'cloud',
            inputs: { fields: [{ ...fields[0], multiline: true, secret: true }] },
          })
          .expect(201);
        return { type: body.id, id: 'their_key' };
      },
    ],
  ];

  it.each(types)('of %s are repaired, or refused when they are saved', async (_what, typeOf) => {
    const { type: credential_type, id } = await typeOf();
    const post = (text: string) =>
      test.as.superuser.post('credentials/', draft({ credential_type, inputs: { [id]: text } }));
    const indented = lines.map((line) => `  ${line} `).join('\r\n');
    const { body } = await post(indented).expect(201);
    expect((await opened(body.id)).inputs[id]).toBe(key);
    const { body: refusal } = await post(lines.toSpliced(1, 1).join('\n')).expect(400);
    expect(JSON.stringify(refusal)).toContain('damaged or a part of it is missing');
    const patch = { inputs: { [id]: lines.toSpliced(1, 1).join('\n') } };
    await test.as.superuser.patch(`credentials/${body.id}/`, patch).expect(400);
  });
});

describe('secrets', () => {
  it('never appear in responses, lists, activity or the table in clear text', async () => {
    const { body } = await test.as.orgAdmin
      .post('credentials/', draft({ inputs: secrets }))
      .expect(201);
    const shown = { username: 'deploy', password: ENCRYPTED, become_password: 'ASK' };
    expect(body).toMatchObject({ inputs: shown, kind: 'ssh', cloud: false, kubernetes: false });
    const copy = await test.as.orgAdmin
      .post(`credentials/${body.id}/copy/`, { name: 'Copy with secrets' })
      .expect(201);
    const bad = { ...secrets, ssh_key_data: `${CANARY} is no key`, [`${CANARY.slice(0, 6)}`]: 1 };
    const texts = [
      await test.as.superuser.get(`credentials/${body.id}/`).expect(200),
      await test.as.superuser.get('credentials/').expect(200),
      await test.as.superuser.get('activity_stream/?page_size=200').expect(200),
      await test.as.orgAdmin.patch(`credentials/${body.id}/`, { inputs: bad }).expect(400),
      copy,
    ].map(({ text }) => text);
    const rows = await test.database.rows(sql`SELECT inputs::text FROM credentials`);
    expect([...texts, JSON.stringify(rows)].filter((text) => text.includes(CANARY))).toEqual([]);
    expect((await opened(body.id)).inputs).toEqual(secrets);
    expect((await opened(copy.body.id)).inputs).toEqual(secrets);
    await test.as.superuser.get('credentials/?inputs__icontains=a').expect(403);
    await test.as.superuser.get('credentials/?order_by=inputs').expect(403);
  });

  it('are kept by their placeholder, and replaced by any other text', async () => {
    const { id } = await test.make.credential(draft({ inputs: secrets }));
    const patch = (inputs: object) => test.as.orgAdmin.patch(`credentials/${id}/`, { inputs });
    await patch({ username: 'other', password: ENCRYPTED }).expect(200);
    expect((await opened(id)).inputs).toEqual({ username: 'other', password: CANARY });
    await patch({ username: 'other', password: 'new' }).expect(200);
    expect((await opened(id)).inputs.password).toBe('new');
    await patch({ username: ENCRYPTED }).expect(400);
    const log = `credentials/${id}/activity_stream/`;
    const { count } = (await test.as.orgAdmin.get(log)).body;
    await patch({ username: 'other', password: ENCRYPTED }).expect(200);
    expect((await test.as.orgAdmin.get(log)).body.count).toBe(count);
  });

  it('are kept by a PUT without them, and removed by an empty value', async () => {
    const { id } = await test.make.credential(draft({ inputs: secrets }));
    const put = (fields: object) =>
      test.as.orgAdmin.put(`credentials/${id}/`, draft(fields)).expect(200);
    const { body } = await put({ description: 'replaced' });
    expect(body).toMatchObject({ description: 'replaced', inputs: { password: ENCRYPTED } });
    expect((await opened(id)).inputs).toEqual(secrets);
    expect((await put({})).body.description).toBe('');
    await put({ inputs: { username: 'deploy' } });
    expect((await opened(id)).inputs).toEqual({ username: 'deploy' });
  });

  it('cannot be decrypted in another row', async () => {
    const [one, two] = [
      await test.make.credential(draft({ inputs: secrets })),
      await test.make.credential(draft()),
    ];
    await test.database.execute(sql`
      UPDATE credentials SET inputs = (SELECT inputs FROM credentials WHERE id = ${one.id})
      WHERE id = ${two.id}`);
    await expect(opened(two.id)).rejects.toThrow(
      `A secret of credential "${two.name}" cannot be decrypted (tampered).`,
    );
  });

  it('that cannot be decrypted must be entered again', async () => {
    const { id } = await test.make.credential(draft({ inputs: secrets }));
    await test.database.execute(sql`
      UPDATE credentials SET inputs = ${JSON.stringify({ ...secrets, password: LOST_SECRET })}
      WHERE id = ${id}`);
    const patch = (inputs: object) => test.as.orgAdmin.patch(`credentials/${id}/`, { inputs });
    const refusal = {
      inputs: { password: ['The stored secret cannot be decrypted. Enter the secret again.'] },
    };
    expect((await patch({ username: 'other', password: ENCRYPTED }).expect(400)).body).toEqual(
      refusal,
    );
    const copy = { name: 'Copy without the key' };
    const { body } = await test.as.orgAdmin.post(`credentials/${id}/copy/`, copy).expect(400);
    expect(body).toEqual(refusal);
    await patch({ ...secrets, password: 'new' }).expect(200);
    expect((await opened(id)).inputs.password).toBe('new');
  });

  it.each<[object, object]>([
    [{ nope: 1 }, ["'nope' was unexpected"]],
    [{ username: 5 }, { username: ['Not a valid string.'] }],
    [{ username: ['root'] }, { username: ['Not a valid string.'] }],
    [{ ssh_key_data: 'none' }, { ssh_key_data: ['Invalid certificate or key.'] }],
    [
      { username: 5, nope: 1 },
      { username: ['Not a valid string.'], nope: ["'nope' was unexpected"] },
    ],
    [
      { password: ENCRYPTED },
      { password: ['$encrypted$ is a reserved keyword, and cannot be used for password.'] },
    ],
    [
      { username: '$sealed$v1$00000000$AAAA' },
      { username: ['$encrypted$ texts are reserved, and cannot be used for username.'] },
    ],
  ])(
    'with the inputs %j are refused by the rules of the type, at the input',
    async (inputs, faults) => {
      const { body } = await test.as.orgAdmin.post('credentials/', draft({ inputs })).expect(400);
      expect(body).toEqual({ inputs: faults });
    },
  );

  it('of custom types are refused in the same way', async () => {
    const fields = [
      { id: 'size', label: 'Size', type: 'string', choices: ['1', '2'] },
      { id: 'on', label: 'On', type: 'boolean' },
    ];
    const type = { name: `Typed ${(made += 1)}`, kind: 'cloud', inputs: { fields } };
    const { body: custom } = await test.as.superuser.post('credential_types/', type).expect(201);
    const post = (inputs: object) =>
      test.as.superuser.post('credentials/', draft({ credential_type: custom.id, inputs }));
    expect((await post({ size: 1, on: 'maybe' }).expect(400)).body).toEqual({
      inputs: { size: ['Not a valid string.'], on: ['Must be a valid boolean.'] },
    });
    await post({ size: '1', on: true }).expect(201);
  });

  it('have the same kind in objects and summaries, also for custom types', async () => {
    const type = { name: `Kind ${(made += 1)}`, kind: 'cloud', inputs: {}, injectors: {} };
    const { body: custom } = await test.as.superuser.post('credential_types/', type).expect(201);
    const own = await test.make.credential(draft({ credential_type: custom.id, inputs: {} }));
    const template = await test.make.jobTemplate({});
    const url = `job_templates/${template.id}/`;
    for (const { id } of [own, await test.make.credential(draft())]) {
      await test.as.superuser.post(`${url}credentials/`, { id }).expect(204);
    }
    const { body: job } = await test.as.superuser.post(`${url}launch/`, {}).expect(201);
    for (const path of [url, `jobs/${job.id}/`, `jobs/?id=${job.id}`]) {
      const { body } = await test.as.superuser.get(path).expect(200);
      const { credentials } = (body.results?.[0] ?? body).summary_fields;
      expect(credentials).toHaveLength(2);
      for (const { id, kind, cloud } of credentials) {
        const { body: shown } = await test.as.superuser.get(`credentials/${id}/`).expect(200);
        expect({ path, kind, cloud }).toEqual({ path, kind: shown.kind, cloud: shown.cloud });
      }
    }
  });

  it('show which passwords a launch needs', async () => {
    const asks = await test.make.credential(draft({ inputs: secrets }));
    const template = await test.make.jobTemplate({});
    const url = `job_templates/${template.id}/`;
    await test.as.superuser.post(`${url}credentials/`, { id: asks.id }).expect(204);
    const { body } = await test.as.superuser.get(`${url}launch/`).expect(200);
    expect(body.passwords_needed_to_start).toEqual(['become_password']);
  });
});

describe('owners', () => {
  it('must be exactly one of user, team and organization', async () => {
    const none = await test.as.superuser
      .post('credentials/', draft({ organization: null }))
      .expect(400);
    expect(none.body).toEqual({ detail: "Missing 'user', 'team', or 'organization'." });
    const user = test.as.users.orgMember.id;
    const two = await test.as.superuser.post('credentials/', draft({ user })).expect(400);
    expect(two.body).toEqual({
      detail:
        "Only one of 'user', 'team', or 'organization' should be provided, received organization, user fields.",
    });
    const unknown = { organization: null, user: 999_999 };
    await test.as.superuser.post('credentials/', draft(unknown)).expect(400);
  });

  it('are users, for their own credentials', async () => {
    const { id } = test.as.users.nobody;
    const own = draft({ organization: null, user: id });
    const { body } = await test.as.nobody.post('credentials/', own).expect(201);
    expect(body).toMatchObject({ organization: null, related: { user: `/api/v2/users/${id}/` } });
    expect(body.summary_fields.owners).toEqual([
      { id, type: 'user', name: 'nobody', description: '', url: `/api/v2/users/${id}/` },
    ]);
    expect(body.summary_fields.user_capabilities).toEqual({
      edit: true,
      delete: true,
      copy: false,
      use: true,
    });
    const users = await test.as.nobody.get(`credentials/${body.id}/owner_users/`).expect(200);
    expect(users.body.results).toMatchObject([{ username: 'nobody' }]);
    await test.as.orgAdmin.get(`credentials/${body.id}/`).expect(403);
    await test.as.nobody
      .post('credentials/', draft({ organization: null, user: test.as.users.orgMember.id }))
      .expect(403);
  });

  it('are teams, whose organization then owns the credential', async () => {
    const own = () => draft({ organization: null, team: test.home.team.id });
    const { body } = await test.as.teamAdmin.post('credentials/', own()).expect(201);
    expect(body.organization).toBe(test.home.organization.id);
    expect(body.summary_fields.owners.map(({ type }: { type: string }) => type)).toContain('team');
    await test.as.teamMember.get(`credentials/${body.id}/`).expect(200);
    const teams = await test.as.teamAdmin.get(`credentials/${body.id}/owner_teams/`).expect(200);
    expect(teams.body.results).toMatchObject([{ id: test.home.team.id }]);
    await test.as.teamMember.post('credentials/', own()).expect(403);
    await test.as.outsider.post('credentials/', own()).expect(403);
  });

  it('must not leave users without access when they change', async () => {
    const credential = await test.make.credential(draft());
    await test.make.grant('credential', credential, 'use_role', { user: test.as.users.orgMember });
    const move = (organization: number | null) =>
      test.as.superuser.patch(`credentials/${credential.id}/`, { organization });
    expect((await move(test.home.otherOrganization.id).expect(400)).body).toEqual({
      organization: ['The credential is shared with users or teams outside of that organization.'],
    });
    await test.make.revoke('credential', credential, 'use_role', { user: test.as.users.orgMember });
    await test.as.orgAdmin
      .patch(`credentials/${credential.id}/`, { organization: test.home.otherOrganization.id })
      .expect(403);
    await move(test.home.otherOrganization.id).expect(200);
    await test.as.outsider.get(`credentials/${credential.id}/`).expect(200);
    await test.as.orgAdmin.get(`credentials/${credential.id}/`).expect(403);
  });
});

it('a credential that moves is not granted to a team of its former organization', async () => {
  const { id } = await test.make.credential(draft());
  const { body } = await test.as.superuser.get(`credentials/${id}/object_roles/`).expect(200);
  const holder = new Database(test.database.dataSource);
  const [granting] = await holder.transaction(async () => {
    await holder.execute(sql`SELECT 1 FROM credentials WHERE id = ${id} FOR UPDATE`);
    const grant = { id: body.results[0].id };
    const reply = test.as.superuser.post(`teams/${test.home.team.id}/roles/`, grant).then();
    const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually(async () => expect(await test.database.execute(waiting)).toBe(1));
    const moved = sql`organization_id = ${test.home.otherOrganization.id}`;
    await holder.execute(sql`UPDATE credentials SET ${moved} WHERE id = ${id}`);
    return [reply];
  });
  expect((await granting)!.status).toBe(400);
});

describe('permissions', () => {
  it.each<[PersonaName, number, number, number]>([
    ['superuser', 200, 200, 201],
    ['auditor', 200, 403, 403],
    ['orgAdmin', 200, 200, 201],
    ['orgMember', 403, 403, 403],
    ['teamMember', 200, 403, 403],
    ['outsider', 403, 403, 403],
    ['nobody', 403, 403, 403],
  ])('%s: read %i, change %i, create and copy %i', async (name, read, change, create) => {
    const credential = await test.make.credential(draft({ inputs: secrets }));
    await test.make.grant('credential', credential, 'use_role', { team: test.home.team });
    const path = `credentials/${credential.id}/`;
    await test.as[name].get(path).expect(read);
    await test.as[name].patch(path, { description: name }).expect(change);
    await test.as[name].post(`${path}copy/`, { name: `Copy by ${name}` }).expect(create);
    await test.as[name].post('credentials/', draft()).expect(create);
    await test.as[name].delete(path).expect(change === 200 ? 204 : 403);
  });
});

it('a credential keeps its type while something uses it', async () => {
  const scm = await test.database.row<Row>(
    sql`SELECT id FROM credential_types WHERE namespace = 'scm'`,
  );
  const change = (row: Row) =>
    test.as.orgAdmin.patch(`credentials/${row.id}/`, { credential_type: scm!.id });
  const free = await test.make.credential(draft({ inputs: { username: 'u', password: CANARY } }));
  await change(free).expect(200);
  expect((await opened(free.id)).inputs.password).toBe(CANARY);
  const misfit = await test.make.credential(draft({ inputs: secrets }));
  expect((await change(misfit).expect(400)).body).toEqual({
    inputs: ["'become_password' was unexpected"],
  });
  const used = await test.make.credential(draft());
  await test.database.execute(sql`
    INSERT INTO unified_job_templates (type, name, credential_id) VALUES ('project', 'Uses it', ${used.id})`);
  expect((await change(used).expect(400)).body.credential_type[0]).toContain(
    'You cannot change the credential type of the credential',
  );
  await test.as.orgAdmin.delete(`credentials/${used.id}/`).expect(204);
  const left = await test.database.row(sql`
    SELECT credential_id FROM unified_job_templates WHERE name = 'Uses it'`);
  expect(left).toEqual({ credential_id: null });
});

it('a credential name is unique in organization and type', async () => {
  const { name } = await test.make.credential(draft());
  const { body } = await test.as.orgAdmin.post('credentials/', draft({ name })).expect(400);
  expect(body).toEqual({
    __all__: ['Credential with this Organization, Name and Credential type already exists.'],
  });
});

it('a page of credentials needs a constant number of statements', async () => {
  const owned = { organization: null, team: test.home.team.id, inputs: secrets };
  for (let number = 0; number < 10; number++) {
    await test.make.credential(draft({ ...owned, name: `Listed ${number}` }));
  }
  const list = 'credentials/?name__startswith=Listed';
  await samePageQueries(test.database, test.as.orgAdmin, list, [1, 10]);
});

it('simultaneous requests create credentials of a team', async () => {
  const replies = await Promise.all(
    Array.from({ length: 8 }, () =>
      test.as.superuser.post(
        'credentials/',
        draft({ organization: null, team: test.home.team.id }),
      ),
    ),
  );
  expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(201));
});
