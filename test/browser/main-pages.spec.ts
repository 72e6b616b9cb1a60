/**
 * Main pages respect their content security policy, have no serious fault in axe, and fit a small screen. axe
 * checks one page of each kind in the dark theme and on a small screen too; a deep run checks all. With
 * PICTURES (`npm run screenshots`) each page is stored for the documentation.
 *
 * Budget: 55 s, because it looks at each kind of page with axe, and at one of each in all themes and sizes.
 */
import type { Page } from 'playwright-core';

import { boot, type TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { faultsOfColors, inBrowser, picture, seriousFaults, visit, type Visit } from './browser.js';
import { furnish, type Furnished } from './furnish.js';

let test: TestApp;
let house: Furnished;

beforeAll(async () => {
  test = await boot();
  house = await furnish(test);
  // The document is built for the first request. The pages here should not wait for it.
  await test.as.anonymous.get('/api/openapi.json').expect(200);
});
afterAll(() => test.close());

interface MainPage {
  name: string;
  path: () => string;
  heading: string | RegExp;
  status?: number;
  /** User who opens the page: the administrator by default, an anonymous user if null. */
  who?: 'nobody' | null;
  /**
   * True for the page that represents its kind: dashboard, list, object, form, active or failed run, graph or
   * chart.
   */
  isOfItsKind?: true;
  /** Maximum height on a phone, in pixels. */
  longest?: number;
  /** Actions on the page before it is checked. */
  act?: (page: Page) => Promise<unknown>;
}

/** Pages that users work in, each of which has pictures. */
const PAGES: readonly MainPage[] = [
  { name: 'login', path: () => '/api/login/', heading: 'Log in', who: null },
  {
    name: 'dashboard',
    path: () => '/',
    heading: 'Dashboard',
    isOfItsKind: true,
    act: starred,
  },
  {
    name: 'statistics',
    path: () => '/statistics/?days=14',
    heading: 'Statistics',
    isOfItsKind: true,
  },
  { name: 'search', path: () => '/search/?q=shop', heading: 'Search' },
  { name: 'jobs', path: () => '/api/v2/unified_jobs/?order_by=-id', heading: 'All jobs' },
  {
    name: 'templates',
    path: () => '/api/v2/job_templates/?name__icontains=e&order_by=name',
    heading: 'Job templates',
    isOfItsKind: true,
  },
  {
    name: 'template',
    path: () => `/api/v2/job_templates/${house.template.id}/`,
    heading: 'Deploy the shop',
    longest: 3800,
    isOfItsKind: true,
  },
  {
    name: 'launch',
    path: () => `/api/v2/job_templates/${house.template.id}/launch/#form-post`,
    heading: 'Launch – Deploy the shop',
    isOfItsKind: true,
  },
  {
    name: 'job',
    path: () => `/api/v2/jobs/${house.job.id}/`,
    heading: 'Deploy the shop',
    isOfItsKind: true,
  },
  {
    name: 'failure',
    path: () => `/api/v2/jobs/${house.failedJob.id}/`,
    heading: 'Deploy the shop',
    isOfItsKind: true,
  },
  {
    name: 'workflow-template',
    path: () => `/api/v2/workflow_job_templates/${house.workflow.id}/`,
    heading: 'Release to production',
  },
  {
    name: 'workflow',
    path: () => `/api/v2/workflow_jobs/${house.workflowJob.id}/`,
    heading: 'Release to production',
    act: (page) => page.getByRole('button', { name: 'Approve' }).waitFor(),
    isOfItsKind: true,
  },
  {
    name: 'graph-editor',
    path: () => `/api/v2/workflow_job_templates/${house.workflow.id}/#build`,
    heading: 'Release to production',
  },
  {
    name: 'inventory',
    path: () => `/api/v2/inventories/${house.inventory.id}/`,
    heading: 'Production',
  },
  {
    name: 'editor',
    path: () => `/api/v2/inventories/${house.inventory.id}/?_form=patch#patch-variables`,
    heading: 'Edit inventory – Production',
    act: (page) => page.locator('.cm-content').first().waitFor(),
  },
  {
    name: 'source',
    path: () => `/api/v2/inventory_sources/${house.source.id}/`,
    heading: 'Machines in the cloud',
  },
  {
    name: 'schedule',
    path: () => `/api/v2/schedules/${house.schedule.id}/?_form=patch`,
    heading: 'Edit schedule – Every night',
  },
  {
    name: 'webhook',
    path: () => `/api/v2/job_templates/${house.template.id}/webhook/`,
    heading: 'Webhook – Deploy the shop',
  },
  {
    name: 'webhook-filters',
    path: () => `/api/v2/job_templates/${house.template.id}/webhook/#filters`,
    heading: 'Webhook – Deploy the shop',
  },
  {
    name: 'notification',
    path: () => `/api/v2/notification_templates/${house.notificationTemplate.id}/`,
    heading: 'Operations chat',
  },
  {
    name: 'access',
    path: () => `/api/v2/job_templates/${house.template.id}/access_list/`,
    heading: 'Access list – Deploy the shop',
  },
  {
    name: 'credential',
    path: () => `/api/v2/credentials/?_form=post&_with.credential_type=${house.machineType}`,
    heading: 'Create credential',
  },
  { name: 'authenticators', path: () => '/api/v2/authenticators/', heading: 'Authenticators' },
  { name: 'second-factor', path: () => '/second-factor/', heading: 'Second factor' },
  { name: 'settings', path: () => '/api/v2/settings/logging/', heading: 'Logging' },
  { name: 'instances', path: () => '/api/v2/instances/', heading: 'Instances' },
  {
    name: 'execution-environments',
    path: () => '/api/v2/execution_environments/',
    heading: 'Execution environments',
  },
  { name: 'team', path: () => `/api/v2/teams/${house.team.id}/`, heading: 'Operations' },
  {
    name: 'refused',
    path: () => `/api/v2/teams/${house.team.id}/`,
    heading: /^Team \d+$/,
    status: 403,
    who: 'nobody',
  },
];

/** Further pages: opened by other users, or without a picture. */
const FURTHER: readonly MainPage[] = [
  { name: 'root', path: () => '/api/v2/', heading: 'API version 2' },
  {
    name: 'form',
    path: () => '/api/v2/organizations/?_form=post',
    heading: 'Create organization',
    act: async (page) => {
      await page.locator('#post-name').fill('Shop');
      await page.getByRole('button', { name: 'Create organization' }).click();
      await page.locator('#post-name-errors').waitFor();
    },
    status: 200,
  },
  {
    name: 'approval',
    path: () => `/api/v2/workflow_approvals/${house.approval.id}/`,
    heading: 'Release approved?',
  },
  { name: 'not-found', path: () => '/api/v2/teams/999999/', heading: 'Team 999999', status: 404 },
  { name: 'unknown', path: () => '/elsewhere/', heading: '404', status: 404 },
  { name: 'activity', path: () => '/api/v2/activity_stream/', heading: 'Activity' },
];

/** Stars some objects, and opens the pages that are later listed as recently viewed. */
async function starred(page: Page): Promise<void> {
  const { template, inventory, workflow } = house;
  for (const url of [
    `/api/v2/inventories/${inventory.id}/`,
    `/api/v2/workflow_job_templates/${workflow.id}/`,
    `/api/v2/job_templates/${template.id}/`,
  ]) {
    await page.goto(url);
    await page.getByRole('button', { name: 'Star', exact: true }).click();
    await page.getByRole('button', { name: 'Star', exact: true, pressed: true }).waitFor();
  }
  await page.goto('/');
}

async function show(page: Page, { path, heading, status = 200, act }: MainPage): Promise<void> {
  const answer = await page.goto(path());
  expect([path(), answer?.status()]).toEqual([path(), status]);
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  await act?.(page);
}

const overflowOf = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Script that finds tables that have to be scrolled sideways. */
const SIDEWAYS = `[...document.querySelectorAll('.stacks')]
  .filter(({ parentElement: around }) => around.scrollWidth > around.clientWidth)
  .map(({ parentElement: around }) => around.getAttribute('aria-label'))`;

/** Script that finds texts of charts that are too small to read. */
const SMALL_LETTERS = `[...document.querySelectorAll('.plot text')]
  .filter((text) => text.getClientRects().length > 0)
  .filter((text) => text.getBoundingClientRect().height < 10)
  .map(({ textContent }) => textContent)`;

/**
 * Script that finds row buttons (the first of each row) that are not aligned with the text above them, or
 * have no border.
 */
const ASTRAY = `[...document.querySelectorAll('.stacks td.end')]
  .flatMap((cell) => cell.querySelector('button, .button') ?? [])
  .filter((button) => {
    const words = button.closest('tr').querySelector('td[data-label]');
    const edge = button.getBoundingClientRect().left - words.getBoundingClientRect().left;
    return edge !== 0 || getComputedStyle(button).borderLeftColor === 'rgba(0, 0, 0, 0)';
  })
  .map(({ textContent }) => textContent.trim())`;

/** Pictures show each page in each theme and size. */
const ALL_WAYS = IS_DEEP || Boolean(process.env.PICTURES);

inBrowser()('main pages', () => {
  const cases = [...PAGES, ...FURTHER].map((one) => [one.name, one] as const);

  const userOf = ({ who }: MainPage) =>
    who === null ? null : who === undefined ? house.admin : test.as.users[who];

  /** Contexts by user and screen. The pages share them, because a new context costs as much as a page. */
  const visits = new Map<string, Visit>();
  afterAll(() => Promise.all([...visits.values()].map(({ close }) => close())));

  async function open(one: MainPage, viewport: { width: number; height: number }): Promise<Visit> {
    const key = `${one.who} ${viewport.width}`;
    const opened = visits.get(key) ?? (await visit(test, userOf(one), { viewport }));
    visits.set(key, opened);
    const { page, faults } = opened;
    faults.length = 0;
    await page.context().clearCookies({ name: /^(?:recent|starred)$/ });
    // The position of graphs. An empty page has no storage.
    await page.evaluate('if (location.protocol === "http:") sessionStorage.clear()');
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: 'light' });
    // Chromium does not load a page again if only the anchor differs.
    if (page.url().split('#')[0] === new URL(one.path().split('#')[0]!, test.url).href) {
      await page.goto('about:blank');
    }
    return opened;
  }

  const keep = async (page: Page, one: MainPage, way: string): Promise<void> => {
    if (PAGES.includes(one)) await picture(page, `${one.name}-${way}`);
  };

  /** Asserts that a page fits a small screen. `page` may have any width. */
  const fitsSmallScreen = async (page: Page, { longest = Infinity }: MainPage): Promise<void> => {
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await overflowOf(page)).toBe(0);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(SIDEWAYS)).toEqual([]);
    expect(await page.evaluate(SMALL_LETTERS)).toEqual([]);
    expect(await page.evaluate(ASTRAY)).toEqual([]);
    const length = Number(await page.evaluate('document.documentElement.scrollHeight'));
    expect(length).toBeLessThanOrEqual(longest);
  };

  it.each(cases)('%s', async (_name, one) => {
    const { page, faults } = await open(one, { width: 1280, height: 860 });
    await show(page, one);
    expect(await seriousFaults(page)).toEqual([]);
    await keep(page, one, 'light');
    if (one.isOfItsKind || ALL_WAYS) {
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await faultsOfColors(page)).toEqual([]);
      await keep(page, one, 'dark');
    }
    await fitsSmallScreen(page, one);
    expect(faults).toEqual([]);
  });

  it.each(cases.filter(([, { isOfItsKind }]) => isOfItsKind || ALL_WAYS))(
    '%s, opened on a small screen',
    async (_name, one) => {
      const { page, faults } = await open(one, { width: 360, height: 740 });
      await show(page, one);
      await fitsSmallScreen(page, one);
      expect(await seriousFaults(page)).toEqual([]);
      // The search for faults scrolls the page. A page opened at an anchor keeps its position.
      if (!one.path().includes('#')) await page.evaluate('scrollTo(0, 0)');
      await keep(page, one, 'small');
      if (process.env.PICTURES) {
        await page.emulateMedia({ colorScheme: 'dark' });
        await keep(page, one, 'small-dark');
      }
      expect(faults).toEqual([]);
    },
  );
});
