/**
 * Opens pages in a real browser: one Chromium for each Jest worker. `visit` opens a page in a context of its
 * own, with the session of a persona, with scripts on or off. `faults` collects errors of the page and
 * violations of its content security policy.
 */
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { accessSync, constants } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { delimiter, join } from 'node:path';

import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Locator,
  type Page,
} from 'playwright-core';

import type { Row } from '../../src/common/resource/define-resource.js';
import { SESSION_COOKIE } from '../../src/common/http/cookies.js';
import { SessionsService } from '../../src/auth/sessions.service.js';
import { sql } from '../../src/database/sql.js';
import type { TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { eventually } from '../support/eventually.js';

const PROGRAMS = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
const QUIET = [
  '--no-first-run',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A page of a test closes before optimized code has saved the time of its optimization.
  '--js-flags=--no-opt --no-maglev',
];

function findProgram(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = folders.flatMap((folder) => PROGRAMS.map((name) => join(folder, name)));
  return [process.env.CHROMIUM_PATH ?? '', ...candidates].find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return path !== '';
  } catch {
    return false;
  }
}

const program = findProgram();

/** `describe`, skipped where there is no Chromium; on CI a missing browser is a failure. */
export const inBrowser = (): typeof describe =>
  program || process.env.CI ? describe : describe.skip;

/** The Chromium of this worker; tests of one worker share it, and `visit` starts it. */
let running: Promise<Browser> | undefined;

function sharedBrowser(): Promise<Browser> {
  running ??= launch().catch((error: unknown) => {
    running = undefined;
    throw error;
  });
  return running;
}

async function launch(): Promise<Browser> {
  if (!program) throw new Error('No Chromium found: install it or set CHROMIUM_PATH.');
  // Chromium's sandbox needs a user of its own: in containers tests run as root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const started: ChildProcess[] = [];
  const remember = (message: unknown): void => {
    started.push((message as { process: ChildProcess }).process);
  };
  subscribe('child_process', remember);
  try {
    const browser = await chromium.launch({
      executablePath: program,
      args: [...QUIET, ...sandbox],
    });
    // After a crash the next visit starts another one.
    browser.once('disconnected', () => (running = undefined));
    return browser;
  } finally {
    unsubscribe('child_process', remember);
    started.filter(({ spawnfile }) => spawnfile === program).forEach(letWorkerEnd);
  }
}

/** Lets the worker end while Chromium runs: Playwright kills Chromium when the worker exits. */
function letWorkerEnd(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
}

export interface Visit {
  page: Page;
  faults: string[];
  close(): Promise<void>;
}

/** Open contexts, each with the spec file that opened it. */
const contexts = new Map<BrowserContext, string | undefined>();

/** Closes contexts that failed tests of earlier files left open. */
async function closeLeftContexts(file: string | undefined): Promise<void> {
  const left = [...contexts].filter(([, owner]) => owner !== file);
  await Promise.all(left.map(([context]) => context.close()));
}

/** Opens a page with a session of the user, or without a session. */
export async function visit(
  test: TestApp,
  user: Row | null,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const browser = await sharedBrowser();
  const file = expect.getState().testPath;
  await closeLeftContexts(file);
  const context = await browser.newContext({ baseURL: test.url, ...options });
  contexts.set(context, file);
  context.once('close', () => contexts.delete(context));
  if (user) {
    const value = await test.app.get(SessionsService, { strict: false }).start(user.id);
    await context.addCookies([{ name: SESSION_COOKIE, value, url: test.url, httpOnly: true }]);
  }
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    // A page with an error status is reported as a resource that failed to load.
    const expected = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !expected) faults.push(message.text());
  });
  return { page, faults, close: () => context.close() };
}

const SCRIPTS: readonly [string, boolean][] = [
  ['with scripts', true],
  ['without scripts', false],
];

type PageTests = (open: Visit, javaScriptEnabled: boolean) => void;

/**
 * Describes pages in a browser with scripts; a deep run repeats the tests without scripts. `open` is a
 * page of its own for each test, with a session of the user; a fault of the page fails the test.
 *
 * A test whose page has no element that scripts change sends the same requests without scripts:
 * `links.spec.ts` proves for all pages that their controls work by themselves.
 */
export function describePages(
  name: string,
  session: () => { test: TestApp; user: Row },
  body: PageTests,
): void {
  describeVariants(name, session, body, IS_DEEP ? SCRIPTS : SCRIPTS.slice(0, 1));
}

/** Describes pages that scripts change: each test runs with scripts and without. */
export function describePagesBothWays(
  name: string,
  session: () => { test: TestApp; user: Row },
  body: PageTests,
): void {
  describeVariants(name, session, body, SCRIPTS);
}

function describeVariants(
  name: string,
  session: () => { test: TestApp; user: Row },
  body: PageTests,
  variants: readonly [string, boolean][],
): void {
  inBrowser().each(variants)(`${name} %s`, (_name, javaScriptEnabled) => {
    const open = {} as Visit;

    beforeEach(async () => {
      const { test, user } = session();
      Object.assign(open, await visit(test, user, { javaScriptEnabled }));
    });
    afterEach(async () => {
      await open.close();
      expect(open.faults).toEqual([]);
    });

    body(open, javaScriptEnabled);
  });
}

/**
 * Waits for an element that scripts add to a page of a run; without scripts loads the page again each
 * time a run of the application or a node has changed.
 */
export async function comes(
  { database }: TestApp,
  page: Page,
  selector: string,
  hasScripts: boolean,
): Promise<void> {
  const found = page.locator(selector).first();
  if (hasScripts) {
    await found.waitFor();
    return;
  }
  let shown: string | undefined;
  await eventually(async () => {
    const state = await database.row<{ state: string }>(sql`
      SELECT concat((SELECT string_agg(concat(id, status), ' ' ORDER BY id) FROM unified_jobs),
        (SELECT string_agg(concat(id, outcome), ' ' ORDER BY id) FROM workflow_job_nodes)) AS state`);
    if (state?.state !== shown) {
      shown = state?.state;
      await page.reload();
    }
    expect(await found.isVisible()).toBe(true);
  }, 60_000);
}

/** Runs in the browser: reduces the API document to the paths of teams and the schemas that they refer to. */
const SHORTENED = `(({ paths, components, ...rest }) => {
  const teams = Object.entries(paths).filter(([path]) => path.startsWith('/api/v2/teams/'));
  const schemas = {};
  const keepSchemasOf = (part) => {
    for (const [, name] of JSON.stringify(part).matchAll(/#\\/components\\/schemas\\/([^"]+)/g)) {
      if (schemas[name]) continue;
      schemas[name] = components.schemas[name];
      keepSchemasOf(schemas[name]);
    }
  };
  keepSchemasOf(teams);
  return { ...rest, paths: Object.fromEntries(teams), components: { ...components, schemas } };
})`;

/**
 * Limits the API explorer to the operations on teams: rendering the whole document takes Chromium longer than
 * all other pages of a spec file. A deep run renders the whole document.
 */
export async function shortenDocument(page: Page): Promise<void> {
  if (IS_DEEP) return;
  await page.route('**/swagger-ui-init.js', async (route) => {
    const response = await route.fetch();
    const script = await response.text();
    expect(script).toContain('= options.swaggerDoc');
    const body = script.replace('= options.swaggerDoc', `= ${SHORTENED}(options.swaggerDoc)`);
    await route.fulfill({ response, body });
  });
}

/** Sets a reference: in its select, or by typing if scripts replaced it with a search box. */
export async function pick(
  control: Locator,
  label: string,
  javaScriptEnabled: boolean,
): Promise<void> {
  if (!javaScriptEnabled) {
    await control.selectOption({ label });
    return;
  }
  await control.click();
  await control.fill(label);
  await control.page().getByRole('option', { name: label }).first().click();
}

/** Opens the drawer that holds the sidebar on a small screen; does nothing on a wide one. */
export async function openDrawer(page: Page): Promise<void> {
  const drawer = page.locator('label.drawer');
  if (await drawer.isVisible()) await drawer.click();
}

/** Opens the section for programs: fields, related links and JSON. */
export const openApi = (page: Page): Promise<void> =>
  page.locator('summary', { hasText: /^API$/ }).click();

/** Opens the builder of filters of a list. */
export const openFilters = (page: Page): Promise<void> =>
  page.getByText('More filters and order').click();

/** Opens the menu of the user, which holds the themes and the logout. */
export const openUserMenu = (page: Page): Promise<void> =>
  page.locator('.account > summary').click();

/** Keeps a picture for the documentation when PICTURES names a folder, as `docs/screenshots`. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Script that replaces timers: they never fire if scripts are off, so their work runs immediately. */
const WITHOUT_TIMERS = 'window.setTimeout = (work) => void Promise.resolve().then(work)';

/** Rules whose result depends on colors; the other results are the same in both themes. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Faults of accessibility that axe calls moderate, serious or critical, as `rule: element`.
 *
 * @param hasScripts whether the page may run its own
 * @param runOnly the rules to check; all of axe unless given
 */
export async function seriousFaults(
  page: Page,
  hasScripts = true,
  runOnly?: readonly string[],
): Promise<string[]> {
  if (!hasScripts) await page.evaluate(WITHOUT_TIMERS);
  // The policy of the pages forbids scripts from elsewhere; this one comes from the test itself.
  await page.evaluate(await readFile(AXE, 'utf8'));
  return page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { axe: AxeCore };
    // A description of the passed checks would take a fifth of the time.
    const { violations } = await axe.run({
      resultTypes: ['violations'],
      ...(rules ? { runOnly: rules } : {}),
    });
    return violations
      .filter(({ impact }) => impact !== 'minor')
      .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  }, runOnly);
}

/** Serious faults in the colors of a page that has been checked in another theme. */
export const faultsOfColors = (page: Page): Promise<string[]> =>
  seriousFaults(page, true, COLOR_RULES);

interface AxeCore {
  run(options: { resultTypes: string[]; runOnly?: readonly string[] }): Promise<{
    violations: { id: string; impact: string | null; nodes: { target: string[] }[] }[];
  }>;
}
