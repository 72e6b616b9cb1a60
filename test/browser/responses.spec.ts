import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { request } from 'undici';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import type { Row } from '../../src/common/resource/define-resource.js';
import { sql } from '../../src/database/sql.js';
import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('responses to browsers', () => {
  it.each([
    ['get', 'teams/', 200],
    ['get', '/api/', 200],
    ['get', 'teams/999999/', 404],
    ['get', 'no_such_thing/', 404],
    ['get', 'teams/?bogus=1', 400],
    ['get', 'teams/?page=9', 404],
    ['delete', 'teams/', 405],
    ['get', 'teams/?format=bogus', 404],
    ['get', '/elsewhere', 404],
  ])('to %s %s are a page with status %i', async (method, path, status) => {
    const answer = await test.as.superuser.with(BROWSER).request(method, path);
    expect(answer.status).toBe(status);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.text).toContain('<h1>');
  });

  it.each([
    ['no preference', {}, ''],
    ['any type', { Accept: '*/*' }, ''],
    ['JSON', { Accept: 'application/json' }, ''],
    ['JSON before HTML', { Accept: 'text/html;q=0.5, application/json' }, ''],
    ['the format in the query', BROWSER, '&format=json'],
  ])('are JSON for %s', async (_case, headers, query) => {
    const client = test.as.superuser.with(headers as Record<string, string>);
    const answer = await client.get(`teams/?id=${test.home.team.id}${query}`);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(answer.body.count).toBe(1);
  });

  it('to OPTIONS are data for any Accept header', async () => {
    const { body } = await test.as.superuser.with(BROWSER).options('teams/').expect(200);
    expect(body.name).toBe('Team List');
  });

  it('redirect GET to the login, and explain other unauthenticated requests', async () => {
    const { headers } = await test.as.anonymous.with(BROWSER).get('teams/?a=%22').expect(302);
    expect(headers.location).toBe('/api/login/?next=%2Fapi%2Fv2%2Fteams%2F%3Fa%3D%2522');
    const { text } = await test.as.anonymous.with(BROWSER).post('teams/', {}).expect(401);
    expect(text).toContain('Not logged in');
  });

  it('redirect from the root to the API', async () => {
    const { headers } = await test.as.anonymous.get('/').expect(302);
    expect(headers.location).toBe('/api/v2/');
  });

  it('cache static files permanently by their digest, and nothing else', async () => {
    const { text } = await test.as.anonymous.with(BROWSER).get('/api/');
    const [url = ''] = /\/static\/controller\.[0-9a-f]{12}\.css/.exec(text) ?? [];
    const { headers } = await test.as.anonymous.get(url).expect(200);
    expect(headers['content-type']).toBe('text/css; charset=utf-8');
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    await test.as.anonymous.get('/static/controller.000000000000.css').expect(404);
    await test.as.anonymous.get('/static/..%2fmain.ts').expect(404);
  });

  describe('are compressed', () => {
    const ZIPPED = { 'Accept-Encoding': 'gzip' };
    const encodingOf = async (path: string, headers: object = BROWSER): Promise<unknown> => {
      const client = test.as.superuser.with({ ...headers, ...ZIPPED });
      return (await client.get(path).expect(200)).headers['content-encoding'];
    };

    it.each(['teams/', 'teams/?search=x', '/api/docs/', '/api/docs/swagger-ui-bundle.js'])(
      'for the page or file %s',
      async (path) => {
        expect(await encodingOf(path)).toBe('gzip');
      },
    );

    it('for the OpenAPI document, and no other JSON', async () => {
      expect(await encodingOf('/api/openapi.json', {})).toBe('gzip');
      expect(await encodingOf('settings/all/', {})).toBeUndefined();
    });

    it('never for requests from another site', async () => {
      const asked = { ...BROWSER, 'Sec-Fetch-Site': 'cross-site' };
      expect(await encodingOf('teams/?search=x', asked)).toBeUndefined();
      expect(await encodingOf('teams/?search=x', { ...BROWSER, 'Sec-Fetch-Site': 'none' })).toBe(
        'gzip',
      );
    });
  });

  describe('have a size', () => {
    const KB = 1024;

    it('of at most 90 KB for static files, without the editor and compression', () => {
      const folder = join(PACKAGE_FOLDER, 'dist', 'static');
      const files = readdirSync(folder).filter((name) => name !== 'editor.js');
      expect(files).toContain('controller.css');
      const sizes = files.map((name) => statSync(join(folder, name)).size);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(90 * KB);
    });

    it('of at most 60 KB for a list of 25 runs, with the files that it loads', async () => {
      const { id } = await test.make.jobTemplate();
      await test.database.execute(sql`
        INSERT INTO unified_jobs (type, name, status, unified_job_template_id, job_template_id,
          launch_type, elapsed, started, finished, event_processing_finished)
        SELECT 'job', md5(n::text), 'successful', ${id}, ${id}, 'manual', n, now(), now(), TRUE
        FROM generate_series(1, 25) AS n`);
      const { text } = await test.as.superuser.with(BROWSER).get('jobs/');
      expect(text.match(/<th scope="row">/g)).toHaveLength(25);
      const files = [...text.matchAll(/ (?:src|href)="(\/static\/[^"]+)"/g)].map(
        ([, path]) => path,
      );
      expect(files.length).toBeGreaterThan(2);
      const token = await test.make.token(test.as.users.superuser);
      const headers = { ...BROWSER, Authorization: `Bearer ${token}`, 'Accept-Encoding': 'gzip' };
      const bytes = [];
      for (const path of ['/api/v2/jobs/', ...files]) {
        const { body } = await request(`${test.url}${path}`, { headers });
        bytes.push((await body.arrayBuffer()).byteLength);
      }
      expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60 * KB);
    });
  });

  it('contain another CSRF token in each page', async () => {
    const tokens = new Set<string>();
    for (const path of ['teams/', 'teams/', 'users/']) {
      const { text } = await test.as.superuser.with(BROWSER).get(path).expect(200);
      tokens.add(/name="csrfmiddlewaretoken" value="(\w+)"/.exec(text)?.[1] ?? '');
    }
    expect(tokens.size).toBe(3);
  });

  it('cache files of the explorer until they change', async () => {
    const file = '/api/docs/swagger-ui-bundle.js';
    const { headers } = await test.as.anonymous.get(file).expect(200);
    expect(headers['cache-control']).toBe('no-cache');
    const again = test.as.anonymous.with({ 'If-None-Match': String(headers.etag) });
    await again.get(file).expect(304);
  });

  it('list the notifications of system jobs and of inventory sources', async () => {
    const { superuser } = test.as;
    const { id: inventory } = await test.make.inventory({
      organization: test.home.organization.id,
    });
    const source = { name: 'Cloud', inventory, source: 'ec2' };
    const { body } = await superuser.post('inventory_sources/', source).expect(201);
    const { results } = (await superuser.get('system_job_templates/')).body as { results: Row[] };
    for (const path of [body.url as string, String(results[0]?.url)]) {
      const { text } = await superuser.with(BROWSER).get(path).expect(200);
      expect(text).toContain('When a run fails');
      expect(text).not.toContain('When a run waits for an approval');
    }
  });

  it('link to all roles of a user of very many teams', async () => {
    const organization = await test.make.organization({});
    const user = await test.make.user();
    await test.make.grant('organization', organization, 'admin_role', { user });
    const hint = 'Some roles may be missing.';
    const page = () => test.as.superuser.with(BROWSER).get(`users/${user.id}/`).expect(200);
    expect((await page()).text).not.toContain(hint);
    for (let made = 0; made < 200; made += 1)
      await test.make.team({ organization: organization.id });
    expect((await page()).text).toContain(hint);
  });

  it('do not reveal the roles of other users in a refusal', async () => {
    const { text } = await test.as.nobody
      .with(BROWSER)
      .get(`teams/${test.home.team.id}/`)
      .expect(403);
    expect(text).toMatch(/role="alert"[^>]*>(?:(?!<\/section|<\/main).)*Read of the team/s);
    expect(text).not.toContain('Home Team');
  });

  it('offer no role for a refusal that no role removes', async () => {
    const { text } = await test.as.orgAdmin
      .with(BROWSER)
      .get(`organizations/${test.home.organization.id}/credentials/?inputs=x`)
      .expect(403);
    expect(text).toContain('Filtering on inputs is not allowed.');
    expect(text).not.toContain('needs one of these roles');
  });
});
