import supertest from 'supertest';

import { RouteTable } from '../../src/common/rest/route-table.service.js';
import { resource, resources } from '../../src/common/resource/define-resource.js';
import { ident, sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';
import { Samples } from '../support/samples.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const NEEDS_LOGIN =
  'Authentication credentials were not provided. To establish a login session, visit /api/login/.';

describe('errors', () => {
  it.each([
    ['an unknown URL', 'get', 'nothing/', 404, 'The requested resource could not be found.'],
    [
      'an unknown version',
      'get',
      '/api/v3/teams/',
      404,
      'The requested resource could not be found.',
    ],
    ['an empty id', 'get', 'jobs//', 404, 'The requested resource could not be found.'],
    [
      'an empty id to delete',
      'delete',
      'jobs//',
      404,
      'The requested resource could not be found.',
    ],
    ['an empty root', 'get', '/api/v2//', 404, 'The requested resource could not be found.'],
    ['an unknown id', 'get', 'teams/999999/', 404, 'No Team matches the given query.'],
    ['id zero', 'get', 'teams/0/', 404, 'No Team matches the given query.'],
    ['an id beyond 32 bits', 'get', 'teams/2147483648/', 404, 'No Team matches the given query.'],
    [
      'an id of 40 digits',
      'get',
      `teams/${'9'.repeat(40)}/`,
      404,
      'No Team matches the given query.',
    ],
    ['a negative id', 'get', 'teams/-1/', 404, 'Not found.'],
    ['an unknown name', 'get', 'teams/no such team/', 404, 'Not found.'],
    ['a name with a NUL', 'get', 'teams/a%00b++Home/', 404, 'Not found.'],
    ['a NUL in an organization part', 'get', 'teams/a++%00/', 404, 'Not found.'],
    ['a method the list does not know', 'patch', 'teams/', 405, 'Method "PATCH" not allowed.'],
    [
      'a method of a URL that reads like an id',
      'get',
      'schedules/preview/',
      405,
      'Method "GET" not allowed.',
    ],
    ['a method the detail does not know', 'post', 'roles/1/', 405, 'Method "POST" not allowed.'],
    ['a page that cannot be', 'get', 'teams/?page=0', 404, 'Invalid page.'],
    ['an unknown format', 'get', 'teams/?format=xml', 404, 'The requested format is not known.'],
  ])('for %s match the contract', async (_case, method, path, status, detail) => {
    const { body, headers } = await test.as.superuser.request(
      method,
      path,
      method === 'get' ? undefined : {},
    );
    expect(body).toEqual({ detail });
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect((await test.as.superuser.request(method, path)).status).toBe(status);
  });

  it('require authentication before they show whether an object exists', async () => {
    for (const path of ['teams/', 'teams/999999/', `teams/${test.home.team.id}/`, 'nothing/']) {
      const { body, headers } = await test.as.anonymous.get(path).expect(401);
      expect(body).toEqual({ detail: NEEDS_LOGIN });
      expect(headers['www-authenticate']).toMatch(/^Bearer realm=api/);
    }
    await test.as.anonymous.patch('teams/', {}).expect(401);
  });

  it('report 405 before the body and the permission are checked', async () => {
    const { body, headers } = await test.as.nobody.delete('teams/').expect(405);
    expect(body).toEqual({ detail: 'Method "DELETE" not allowed.' });
    expect(headers.allow).toBe('GET, POST, HEAD, OPTIONS');
  });

  it('report 406 if no offered media type is acceptable', async () => {
    const { body } = await test.as.superuser.get('teams/').set('Accept', 'image/png').expect(406);
    expect(body).toEqual({ detail: 'Could not satisfy the request Accept header.' });
  });

  it('name all errors of a body together, and __all__ for errors of several fields', async () => {
    const { as, home } = test;
    const { body } = await as.superuser.post('teams/', { organization: 'x' }).expect(400);
    expect(body).toEqual({
      name: ['This field is required.'],
      organization: ['Incorrect type. Expected pk value, received str.'],
    });
    const again = { name: 'Home Team', organization: home.organization.id };
    const taken = await as.superuser.post('teams/', again).expect(400);
    expect(taken.body).toEqual({
      __all__: ['Team with this Organization and Name already exists.'],
    });
  });

  it('report validation errors before missing permissions, to all users', async () => {
    for (const who of ['superuser', 'orgAdmin', 'nobody'] as const) {
      const { body } = await test.as[who]
        .post('teams/', { name: 'x', organization: 999999 })
        .expect(400);
      expect(body).toEqual({ organization: ['Invalid pk "999999" - object does not exist.'] });
    }
    const mine = { name: 'x', organization: test.home.organization.id };
    const { body } = await test.as.outsider.post('teams/', mine).expect(403);
    expect(body).toEqual({ detail: 'You do not have permission to perform this action.' });
  });

  it('report 403 for an object that exists and is not readable', async () => {
    const { body } = await test.as.nobody
      .get(`organizations/${test.home.organization.id}/`)
      .expect(403);
    expect(body).toEqual({ detail: 'You do not have permission to perform this action.' });
  });

  it('do not reveal by name whether an unreadable object exists', async () => {
    await test.as.nobody.get('organizations/Home/').expect(404);
  });
});

describe('request bodies', () => {
  const team = (name: string): Record<string, unknown> => ({
    name,
    organization: test.home.organization.id,
  });

  it.each([
    ['an array', '[]'],
    ['a text', '"x"'],
    ['a number', '1'],
    ['null', 'null'],
    ['false', 'false'],
  ])('must be objects: %s is refused', async (_case, json) => {
    const { body } = await test.as.superuser.post('teams/', json).expect(400);
    expect(body).toEqual({ detail: 'JSON parse error - not a JSON object' });
  });

  it('with invalid JSON are refused', async () => {
    const { body } = await test.as.superuser.post('teams/', '{"name": "x",}').expect(400);
    expect(body.detail).toMatch(/^JSON parse error - /);
  });

  it('may be empty, like an empty object', async () => {
    const { body } = await test.as.superuser.post('teams/').expect(400);
    expect(Object.keys(body)).toEqual(['name', 'organization']);
  });

  it('are refused if nested deeper than 64 levels', async () => {
    const deep = `{"name": ${'['.repeat(70)}${']'.repeat(70)}}`;
    const { body } = await test.as.superuser.post('teams/', deep).expect(400);
    expect(body.detail).toMatch(/nested deeper than 64/);
  });

  it.each([
    ['NUL', '{"name": "a\\u0000b"}', 'name'],
    ['half a surrogate pair', '{"name": "a\\ud800b"}', 'name'],
    ['a text of 513 characters', JSON.stringify({ name: 'x'.repeat(513) }), 'name'],
    ['a blank name', '{"name": "  "}', 'name'],
    ['an object for a text', '{"name": {}}', 'name'],
    ['an id beyond 32 bits', '{"name": "x", "organization": 99999999999}', 'organization'],
    ['a fraction for an id', '{"name": "x", "organization": 1.5}', 'organization'],
    ['a boolean for an id', '{"name": "x", "organization": true}', 'organization'],
  ])('are refused if they contain %s', async (_case, json, field) => {
    const { body } = await test.as.superuser.patch(`teams/${test.home.team.id}/`, json).expect(400);
    expect(body[field]).toEqual([expect.any(String)]);
  });

  it('may be JSON, form data or multipart', async () => {
    const { as } = test;
    await as.superuser.post('teams/', team('by json')).expect(201);
    await as.superuser.request('post', 'teams/').type('form').send(team('by form')).expect(201);
    await as.superuser
      .request('post', 'teams/')
      .field('name', 'by multipart')
      .field('organization', String(test.home.organization.id))
      .expect(201);
  });

  it.each([
    ['text/plain', 'name=x'],
    ['application/xml', '<a/>'],
    ['application/octet-stream', 'x'],
  ])('with %s are refused with 415', async (type, text) => {
    const { body } = await test.as.superuser
      .request('post', 'teams/')
      .type(type)
      .send(text)
      .expect(415);
    expect(body.detail).toMatch(/application\/json.*x-www-form-urlencoded.*multipart\/form-data/);
  });

  it('larger than the limit are refused with 413', async () => {
    const small = await boot({ settings: { BODY_LIMIT: '2048', BULK_BODY_LIMIT: '2048' } });
    const { body } = await small.as.superuser
      .post('teams/', { name: 'x'.repeat(3000) })
      .expect(413);
    expect(body).toEqual({ detail: 'The request body is larger than 2048 bytes.' });
    await small.as.superuser.request('post', 'teams/').field('name', 'x'.repeat(3000)).expect(413);
    await small.close();
  });

  it('with invalid multipart data or uploaded files are refused', async () => {
    const broken = test.as.superuser
      .request('post', 'teams/')
      .set('Content-Type', 'multipart/form-data; boundary=x')
      .send('--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nhalf');
    expect((await broken).status).toBe(400);
    const file = test.as.superuser
      .request('post', 'teams/')
      .attach('name', Buffer.from('x'), 'x.txt');
    expect((await file).status).toBe(400);
    const bare = test.as.superuser
      .request('post', 'teams/')
      .set('Content-Type', 'multipart/form-data')
      .send('x');
    expect((await bare).status).toBe(400);
  });

  it('with an index in a multipart name are refused, because a list could be endless', async () => {
    const { body } = await test.as.superuser
      .request('post', 'teams/')
      .field('name[3000000]', 'x')
      .expect(400);
    expect(body).toEqual({ detail: 'In forms, lists and objects are JSON text.' });
  });

  it('may contain unknown and read-only keys, which are ignored', async () => {
    const { body } = await test.as.superuser
      .post('teams/', { ...team('ignores'), id: 1, created: 'x', url: 'y', nonsense: { a: 1 } })
      .expect(201);
    expect(body.name).toBe('ignores');
    expect(body).not.toHaveProperty('nonsense');
  });

  it('may contain fields that are fixed on creation, which are ignored in changes', async () => {
    const samples = new Samples(test);
    const { routes } = test.app.get(RouteTable, { strict: false });
    const changeable = new Set(
      routes.filter(({ method }) => method === 'PATCH').map(({ pattern }) => pattern),
    );
    const types = resources().filter(({ path }) => changeable.has(`/api/v2/${path}/:id`));
    const fixed = types.flatMap(({ type, fields }) =>
      fields.filter(({ immutable }) => immutable).map(({ name }) => ({ type, name })),
    );
    expect(fixed).toContainEqual({ type: 'host', name: 'inventory' });
    expect(fixed).toContainEqual({ type: 'group', name: 'inventory' });
    for (const { type, name } of fixed) {
      const url = resource(type).url((await samples.of(type)).id);
      const { body: before } = await test.as.superuser.get(url).expect(200);
      for (const value of [{ id: 1, name: 'x' }, [1], 'words', 999_999, null, '']) {
        const { body } = await test.as.superuser.patch(url, { [name]: value }).expect(200);
        expect({ type, name, is: body[name] }).toEqual({ type, name, is: before[name] });
        const put = await test.as.superuser.put(url, { ...before, [name]: value }).expect(200);
        expect({ type, name, is: put.body[name] }).toEqual({ type, name, is: before[name] });
      }
    }
  });

  it('reset optional fields with PUT and keep them with PATCH', async () => {
    const { as } = test;
    const made = await as.superuser
      .post('teams/', { ...team('put'), description: 'kept' })
      .expect(201);
    const patched = await as.superuser.patch(made.body.url, { name: 'patched' }).expect(200);
    expect(patched.body.description).toBe('kept');
    const put = await as.superuser.put(made.body.url, team('put again')).expect(200);
    expect(put.body.description).toBe('');
    await as.superuser.put(made.body.url, { name: 'x' }).expect(400);
  });

  it('write nothing if the request fails', async () => {
    const before = await test.as.superuser.get('teams/?name=Never');
    await test.as.superuser.post('teams/', { name: 'Never', organization: 999999 }).expect(400);
    expect(before.body.count).toBe(0);
    const after = await test.as.superuser.get('teams/?name=Never');
    expect(after.body.count).toBe(0);
  });
});

describe('responses', () => {
  it('to creations are 201 with Location as a path and the whole object', async () => {
    const { body, headers } = await test.as.superuser
      .post('teams/', { name: 'Located', organization: test.home.organization.id })
      .expect(201);
    expect(headers.location).toBe(`/api/v2/teams/${body.id}/`);
    expect(body).toMatchObject({
      type: 'team',
      url: headers.location,
      name: 'Located',
      related: { organization: `/api/v2/organizations/${test.home.organization.id}/` },
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
    });
    await test.as.superuser.delete(body.url).expect(204, '');
    await test.as.superuser.get(body.url).expect(404);
  });

  it('write microseconds in six digits, in lists, summaries and related rows', async () => {
    const { as, database, make } = test;
    const template = await make.jobTemplate({ organization: test.home.organization.id });
    await database.execute(sql`
      INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id)
      VALUES ('job', 'timed', 'successful', ${template.id}, ${template.id})`);
    const columns = await database.rows<{ table_name: string; column_name: string }>(sql`
      SELECT table_name, column_name FROM information_schema.columns
      JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND column_name <> 'expires'
        AND data_type = 'timestamp with time zone'
        AND table_name IN ('unified_jobs', 'unified_job_templates', 'organizations', 'users', 'teams')`);
    for (const { table_name: table, column_name: column } of columns) {
      await database.execute(sql`
        UPDATE ${ident(table)} SET ${ident(column)} = '2026-01-02 03:04:05.493890+00'`);
    }
    for (const path of ['unified_jobs/', 'jobs/', 'job_templates/', 'teams/', 'ping/', 'me/']) {
      // Operators see in ping/ the workers that are alive: none here.
      const client = path === 'ping/' ? as.nobody : as.superuser;
      const { text } = await client.get(path).expect(200);
      const instants = text.match(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[^"]*"/g) ?? [];
      expect(instants.length).toBeGreaterThan(0);
      for (const instant of instants) expect(instant).toMatch(/:\d\d(?:\.\d{6})?Z"$/);
    }
  });

  it('resolve natural keys, including their sublists', async () => {
    const { body } = await test.as.orgMember.get('teams/Home Team++Home/').expect(200);
    expect(body.id).toBe(test.home.team.id);
    await test.as.orgMember.get('teams/Home%20Team++Home/users/').expect(200);
    await test.as.superuser.get('users/orgMember/').expect(200);
    await test.as.superuser.get('teams/Home Team/').expect(404);
  });

  it('list the allowed methods, separated by comma and space', async () => {
    const { headers } = await test.as.superuser.get(`teams/${test.home.team.id}/`).expect(200);
    expect(headers.allow).toBe('GET, PUT, PATCH, DELETE, HEAD, OPTIONS');
  });

  it('serve URLs without the trailing slash and keep the query', async () => {
    await test.make.team();
    const { body } = await test.as.superuser.get('teams?page_size=1&order_by=-id').expect(200);
    expect(body.results).toHaveLength(1);
    expect(body.next).toMatch(/^\/api\/v2\/teams\/\?/);
  });

  it('to HEAD equal those to GET without the body', async () => {
    const { headers, text } = await test.as.superuser.head('teams/').expect(200);
    expect(text ?? '').toBe('');
    expect(headers.allow).toBe('GET, POST, HEAD, OPTIONS');
    await test.as.superuser.head('teams/999999/').expect(404);
    await test.as.anonymous.head('teams/').expect(401);
  });

  it.each([
    ['no Accept', {}],
    ['any', { Accept: '*/*' }],
    ['JSON', { Accept: 'application/json' }],
    ['format=json against HTML', { Accept: 'text/html' }],
  ])('are JSON for %s', async (word, headers) => {
    const path = word.startsWith('format') ? 'teams/?format=json' : 'teams/';
    const answer = await test.as.superuser.with(headers).get(path).expect(200);
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  });

  it('are HTML for clients that request it', async () => {
    const answer = await test.as.superuser.with({ Accept: 'text/html' }).get('teams/').expect(200);
    expect(answer.headers['content-type']).toMatch(/^text\/html/);
  });

  it('contain a request id, a time and security headers', async () => {
    const { headers } = await test.as.superuser
      .get('me/')
      .set('X-Request-Id', 'my-id.1')
      .expect(200);
    expect(headers['x-api-request-id']).toBe('my-id.1');
    expect(headers['x-api-time']).toMatch(/^\d+\.\d{3}s$/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers).not.toHaveProperty('x-powered-by');
    const odd = await test.as.superuser.get('me/').set('X-Request-Id', 'not an id').expect(200);
    expect(odd.headers['x-api-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const failed = await test.as.superuser.get('nothing/').expect(404);
    expect(failed.headers['x-api-time']).toMatch(/s$/);
  });

  it('to URLs outside the API do not reveal the framework', async () => {
    const { body } = await supertest(test.url).get('/etc/passwd').expect(404);
    expect(body).toEqual({ detail: 'The requested resource could not be found.' });
  });
});
