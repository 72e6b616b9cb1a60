/** Users navigate by the objects that a page belongs to, by stars, by recently viewed pages, and back. */
import type { Row } from '../../src/common/resource/define-resource.js';
import { boot, type TestApp } from '../support/boot.js';
import { Samples } from '../support/samples.js';
import { describePages } from './browser.js';
import { htmlOf } from './html.js';

let test: TestApp;
let host: Row;

beforeAll(async () => {
  test = await boot();
  const organization = test.home.organization.id;
  const inventory = await test.make.inventory({ name: 'Production', organization });
  host = await test.make.host(inventory, { name: 'web-1' });
});
afterAll(() => test.close());

const session = () => ({ test, user: test.as.users.superuser });

describePages('navigation', session, (open) => {
  const crumbs = (): Promise<string[]> => open.page.locator('.crumbs li').allInnerTexts();

  it('shows the parents of objects as breadcrumbs, by name', async () => {
    const { page } = open;
    await page.goto(`/api/v2/hosts/${host.id}/groups/`);
    expect(await crumbs()).toEqual([
      'Organizations',
      'Home',
      'Inventories',
      'Production',
      'Hosts',
      'web-1',
      'Groups',
    ]);
    await page.locator('.crumbs').getByRole('link', { name: 'Hosts' }).click();
    await page.getByRole('rowheader', { name: 'web-1' }).waitFor();
    expect(await crumbs()).toEqual(['Organizations', 'Home', 'Inventories', 'Production', 'Hosts']);
    await page.locator('.crumbs').getByRole('link', { name: 'Home' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    expect(await crumbs()).toEqual(['Organizations', 'Home']);
    await page.goto('/api/v2/teams/');
    expect(await crumbs()).toEqual(['Teams']);
    await page.goto('/api/v2/');
    expect(await crumbs()).toEqual(['API', 'Version 2']);
  });

  it('shows favorites and recently viewed objects', async () => {
    const { page } = open;
    const { id } = test.home.team;
    await page.goto('/');
    await page.getByText('Star an object on its page to keep it here.').waitFor();
    await page.goto(`/api/v2/teams/${id}/`);
    await page.getByRole('button', { name: 'Star', pressed: false }).click();
    await page.getByRole('button', { name: 'Star', pressed: true }).waitFor();
    expect(page.url()).toBe(`${test.url}/api/v2/teams/${id}/`);
    await page.goto(`/api/v2/hosts/${host.id}/`);
    await page.goto('/');
    const starred = page.getByRole('region', { name: 'Starred' });
    const recent = page.getByRole('region', { name: 'Recently viewed' });
    expect(await recent.getByRole('link').allInnerTexts()).toEqual(['web-1', 'Home Team']);
    await starred.getByRole('link', { name: 'Home Team' }).click();
    await page.getByRole('button', { name: 'Star', pressed: true }).click();
    await page.getByRole('button', { name: 'Star', pressed: false }).waitFor();
    await page.goto('/');
    expect(await starred.getByRole('link').count()).toBe(0);
    expect(await recent.getByRole('link').allInnerTexts()).toEqual(['Home Team', 'web-1']);
  });
});

it('breadcrumbs lead to the list of runs, newest first', async () => {
  const job = await new Samples(test).of('job');
  for (const [path, list] of [
    [`jobs/${job.id}/`, `job_templates/${String(job.job_template_id)}/jobs/?order_by=-id"`],
    ['notifications/999999/', 'notifications/?order_by=-id"'],
    // If the run does not exist, only the path determines the breadcrumb.
    ['jobs/999999/', 'jobs/?order_by=-id"'],
  ] as const) {
    const page = await htmlOf(test.as.superuser, path);
    const crumbs = /<nav class="crumbs".*?<\/nav>/s.exec(page)?.[0];
    expect([path, crumbs]).toEqual([path, expect.stringContaining(`href="/api/v2/${list}`)]);
  }
});

it('nodes of workflows are named by their templates', async () => {
  const template = await test.make.jobTemplate({ name: 'Roll out' });
  const workflow = await test.make.workflowTemplate();
  const node = await test.make.workflowNode(workflow, { unified_job_template: template.id });
  const path = `workflow_job_template_nodes/${node.id}/`;
  const link = `href="/api/v2/${path}">Roll out</a>`;
  expect(await htmlOf(test.as.superuser, `${path}success_nodes/`)).toContain(link);
  const user = String(test.as.users.superuser.id);
  const cookie = `recent=${user}.workflow_job_template_node-${node.id}`;
  expect(await htmlOf(test.as.superuser.with({ Cookie: cookie }), '/')).toContain(link);
});

it('the list of all jobs links to approvals, which it omits', async () => {
  const page = await htmlOf(test.as.superuser, 'unified_jobs/');
  expect(page).toContain('Approvals have a list of their own.');
  expect(page).toMatch(/<a href="\/api\/v2\/workflow_approvals\/[^>]*>.*?Approvals/s);
});

it('recently viewed objects of a cookie are shown only if readable', async () => {
  const { as, home } = test;
  const organization = await test.make.organization({ name: 'Unseen' });
  const team = await test.make.team({ name: 'Secret team', organization: organization.id });
  const marks = [
    `team-${team.id}`,
    `team-${home.team.id}`,
    'team-999999999',
    'nothing-1',
    'team-0',
    '__proto__-1',
    'team-99999999999',
  ];
  const show = async (user: number): Promise<string> => {
    const cookie = `starred=${[user, ...marks].join('.')}; recent=${'x.'.repeat(500)}`;
    const answer = await as.teamMember
      .with({ Accept: 'text/html', Cookie: cookie })
      .get('/')
      .expect(200);
    return answer.text;
  };
  const own = await show(Number(as.users.teamMember.id));
  expect(own).toContain('Home Team');
  expect(own).not.toContain('Secret team');
  expect(await show(Number(as.users.superuser.id))).not.toContain('Home Team');
});

describe('the explorer', () => {
  it('explains without scripts that it needs them, and links back', async () => {
    const html = await htmlOf(test.as.superuser, '/api/docs/');
    expect(html).toMatch(/<noscript>\s*<p/);
    expect(html).toMatch(
      /<nav\b[^>]*class="way-back"[^>]*>(?:(?!<\/nav>).)*<a\b[^>]*href="\/"[^>]*>\s*Automation Controller/s,
    );
  });
});
