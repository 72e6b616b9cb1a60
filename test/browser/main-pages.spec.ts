/**
 * The pages a person meets first, in both themes: they are there, nothing on them is refused by
 * their policy, axe finds no serious fault, and nothing runs out of a small screen. With PICTURES
 * (`npm run screenshots`) each is kept for the documentation.
 */
import type { Browser, Page } from 'playwright-core';

import { boot, type TestApp } from '../support/boot.js';
import { inBrowser, openBrowser, picture, seriousFaults, visit } from './browser.js';
import { furnish, type Furnished } from './furnish.js';

jest.setTimeout(120_000);

let test: TestApp;
let house: Furnished;
let browser: Browser;

beforeAll(async () => {
  test = await boot({ openapi: true });
  house = await furnish(test);
  // The document is built when it is first asked for; no page has to wait for that here.
  await test.as.anonymous.get('/api/openapi.json').expect(200);
});
afterAll(() => test.close());

interface MainPage {
  name: string;
  path: () => string;
  heading: string | RegExp;
  status?: number;
  /** Who looks; the superuser unless given, null for nobody. */
  who?: 'nobody' | null;
  /** What is done on the page before it is looked at. */
  act?: (page: Page) => Promise<unknown>;
}

const PAGES: readonly MainPage[] = [
  { name: 'login', path: () => '/api/login/', heading: 'Log in', who: null },
  { name: 'dashboard', path: () => '/', heading: 'Dashboard' },
  { name: 'statistics', path: () => '/statistics/?days=30', heading: 'Statistics' },
  { name: 'search', path: () => '/search/?q=shop', heading: 'Search' },
  { name: 'root', path: () => '/api/v2/', heading: 'API version 2' },
  {
    name: 'list',
    path: () => '/api/v2/job_templates/?name__icontains=e&order_by=name',
    heading: 'Job templates',
  },
  {
    name: 'detail',
    path: () => `/api/v2/job_templates/${house.template.id}/`,
    heading: 'Deploy the shop',
  },
  {
    name: 'form',
    path: () => '/api/v2/organizations/#form-post',
    heading: 'Organizations',
    act: async (page) => {
      await page.locator('#post-name').fill('Home');
      await page.getByRole('button', { name: 'Create organization' }).click();
      await page.locator('#post-name-errors').waitFor();
    },
    status: 200,
  },
  { name: 'job', path: () => `/api/v2/jobs/${house.job.id}/`, heading: 'Deploy the shop' },
  {
    name: 'workflow',
    path: () => `/api/v2/workflow_jobs/${house.workflowJob.id}/`,
    heading: 'Release to production',
    act: (page) => page.getByRole('button', { name: 'Approve' }).waitFor(),
  },
  {
    name: 'access',
    path: () => `/api/v2/teams/${house.team.id}/access_list/`,
    heading: 'Access list',
  },
  { name: 'reference', path: () => '/api/docs/reference/teams/', heading: 'Teams' },
  {
    name: 'refused',
    path: () => `/api/v2/teams/${house.team.id}/`,
    heading: /^Team \d+$/,
    status: 403,
    who: 'nobody',
  },
];

/** Shown as well, but by others or without a picture. */
const FURTHER: readonly MainPage[] = [
  {
    name: 'workflow-template',
    path: () => `/api/v2/workflow_job_templates/${house.workflow.id}/`,
    heading: 'Release to production',
  },
  {
    name: 'approval',
    path: () => `/api/v2/workflow_approvals/${house.approval.id}/`,
    heading: 'Release approved?',
  },
  { name: 'not-found', path: () => '/api/v2/teams/999999/', heading: 'Team 999999', status: 404 },
  { name: 'unknown', path: () => '/elsewhere/', heading: '404', status: 404 },
  { name: 'jobs', path: () => '/api/v2/unified_jobs/', heading: 'Unified jobs' },
  { name: 'activity', path: () => '/api/v2/activity_stream/', heading: 'Activity stream' },
  { name: 'settings', path: () => '/api/v2/settings/bulk/', heading: 'Bulk' },
  { name: 'reference-index', path: () => '/api/docs/reference/', heading: 'Reference' },
  { name: 'schema', path: () => '/api/docs/reference/schemas/Team/', heading: 'Team' },
  {
    name: 'launch',
    path: () => `/api/v2/job_templates/${house.template.id}/launch/#form-post`,
    heading: 'Launch',
  },
];

async function show(page: Page, { path, heading, status = 200, act }: MainPage): Promise<void> {
  const answer = await page.goto(path());
  expect([path(), answer?.status()]).toEqual([path(), status]);
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  await act?.(page);
}

const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

inBrowser()('main pages', () => {
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  const userOf = ({ who }: MainPage) => (who === null ? null : test.as.users[who ?? 'superuser']);

  describe.each(['light', 'dark'] as const)('%s', (colorScheme) => {
    it.each([...PAGES, ...FURTHER].map((one) => [one.name, one] as const))(
      '%s',
      async (name, one) => {
        const options = { colorScheme, viewport: { width: 1280, height: 860 } };
        const { page, faults, close } = await visit(browser, test, userOf(one), options);
        await show(page, one);
        expect(await seriousFaults(page)).toEqual([]);
        if (PAGES.includes(one)) await picture(page, `${name}-${colorScheme}`);
        expect(faults).toEqual([]);
        await close();
      },
    );
  });

  it.each([...PAGES, ...FURTHER].map((one) => [one.name, one] as const))(
    '%s on a small screen',
    async (name, one) => {
      const options = { viewport: { width: 360, height: 740 } };
      const { page, close } = await visit(browser, test, userOf(one), options);
      await show(page, one);
      expect(await overflowOf(page)).toBe(0);
      if (['list', 'job'].includes(name)) await picture(page, `${name}-small`);
      await close();
    },
  );
});
