/**
 * Budget: 25 s, because it loads the API explorer.
 */
import { boot, type TestApp } from '../support/boot.js';
import { inBrowser, shortenDocument, visit, type Visit } from './browser.js';

let test: TestApp;
let open: Visit;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

const CANARY = `</pre></textarea><script>alert(1)</script><img src=x onerror=alert(2)>"'><svg onload=alert(3)>`;

inBrowser()('pages under attack', () => {
  beforeEach(async () => {
    open = await visit(test, test.as.users.superuser);
  });
  afterEach(() => open.close());

  it('show hostile names, descriptions and queries as text', async () => {
    const { page, faults } = open;
    const organization = await test.make.organization({
      name: `${CANARY} org`,
      description: CANARY,
    });
    const team = await test.make.team({
      name: CANARY,
      description: `javascript:alert(4) ${CANARY}`,
      organization: organization.id,
    });
    const paths = [
      `teams/${team.id}/`,
      `teams/${team.id}/?_form=patch`,
      `teams/${team.id}/users/`,
      'teams/?order_by=-id',
      `teams/?search=${encodeURIComponent(CANARY)}`,
      `teams/?name=${encodeURIComponent(CANARY)}`,
      `teams/?${encodeURIComponent(CANARY)}=1`,
      `teams/${encodeURIComponent(CANARY)}/`,
      `${encodeURIComponent(CANARY)}/`,
      'activity_stream/?order_by=-id',
    ];
    for (const path of paths) {
      await page.goto(`/api/v2/${path}`);
      expect([path, await page.locator('main script, main img, main svg').count()]).toEqual([
        path,
        0,
      ]);
    }
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('have no inline scripts or styles, and forbid both', async () => {
    const answer = await open.page.goto('/api/v2/teams/');
    const policy = (await answer?.headerValue('content-security-policy')) ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    const page = (await answer?.text()) ?? '';
    // Only tags contain quotes that are not escaped.
    const tags = page.replaceAll(/"[^"]*"/g, '""');
    expect(tags.match(/<script(?![^>]* src=)|<style|<[a-z][^>]*\s(?:style|on[a-z]+)=/i)).toBeNull();
  });

  it('refuse a form without the token of the session', async () => {
    const { page } = open;
    await page.goto(`/api/v2/teams/${test.home.team.id}/`);
    for (const values of [{ _method: 'DELETE' }, { name: 'x' }, { _method: 'PATCH', name: 'x' }]) {
      const answer = await page.request.post(`/api/v2/teams/${test.home.team.id}/`, {
        form: values as Record<string, string>,
        headers: { Accept: 'text/html' },
      });
      expect([values, answer.status()]).toEqual([values, 403]);
      expect(await answer.text()).toContain('CSRF Failed');
    }
    await test.as.superuser.get(`teams/${test.home.team.id}/`).expect(200);
  });

  it('refuse a form from another site', async () => {
    const { page } = open;
    await page.goto('/api/v2/teams/');
    const token = await page.locator('[name=csrfmiddlewaretoken]').first().inputValue();
    const answer = await page.request.post(`/api/v2/teams/${test.home.team.id}/`, {
      form: { _method: 'DELETE', csrfmiddlewaretoken: token },
      headers: { Accept: 'text/html', Origin: 'https://elsewhere.example' },
    });
    expect(answer.status()).toBe(403);
  });

  it('override the method for no other client', async () => {
    const path = `teams/${test.home.team.id}/`;
    await test.as.superuser.post(path, { _method: 'DELETE' }).expect(405);
    await test.as.superuser
      .with({ 'Content-Type': 'application/x-www-form-urlencoded' })
      .post(path)
      .send('_method=DELETE')
      .expect(405);
    await test.as.superuser.get(path).expect(200);
  });

  it('send requests of the explorer as the current user', async () => {
    const { page, faults } = open;
    await page.goto('/api/v2/teams/');
    await shortenDocument(page);
    await page.goto('/api/docs/');
    await page.locator('.opblock-tag').first().waitFor();
    await page.getByText('OAS 3.1', { exact: true }).waitFor();
    await page.locator('.filter-container input, .operation-filter-input').first().fill('teams');
    await page.locator('#operations-tag-teams, [data-tag="teams"]').first().click();
    await page.locator('#operations-teams-teams_create .opblock-summary-control').click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page
      .locator('textarea.body-param__text')
      .fill(`{"name": "From the explorer", "organization": ${test.home.organization.id}}`);
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table .response-col_status').getByText('201').waitFor();
    expect(faults).toEqual([]);
  });
});
