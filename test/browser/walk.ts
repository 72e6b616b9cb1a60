/**
 * Journeys with counted clicks. Opening a list to choose from it counts as a click; typing, scrolling and
 * looking do not.
 */
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';

import type { Row } from '../../src/common/resource/define-resource.js';
import type { TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { inBrowser, openDrawer, pick, seriousFaults, visit } from './browser.js';

/**
 * Options of a user's browser: every two values of scripts, width and colors are combined in one of the four.
 */
const WAYS: readonly (readonly [name: string, options: BrowserContextOptions])[] = [
  ['with scripts, wide and light', options(true, 1280, 'light')],
  ['with scripts, narrow and dark', options(true, 390, 'dark')],
  ['without scripts, wide and dark', options(false, 1280, 'dark')],
  ['without scripts, narrow and light', options(false, 390, 'light')],
];

/** Ways in which axe checks the pages: with and without scripts. A deep run checks all four. */
const CHECKED_WAYS = new Set(IS_DEEP ? WAYS : [WAYS[0], WAYS[2]]);

const NARROW = { width: 390, height: 900 };

type Journey = (walk: Walk) => Promise<void>;
type Session = () => { test: TestApp; user: Row };

function options(
  javaScriptEnabled: boolean,
  width: number,
  colorScheme: 'light' | 'dark',
): BrowserContextOptions {
  return { javaScriptEnabled, colorScheme, viewport: { width, height: 900 } };
}

export class Walk {
  clicks = 0;

  constructor(
    readonly page: Page,
    readonly hasScripts: boolean,
    /** Text that distinguishes the walks of a journey, where names must be unique. */
    readonly mark: string,
    private readonly isChecked: boolean,
  ) {}

  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
  }

  /** Opens an item of the sidebar. On a small screen it is a drawer, whose click does not count. */
  async open(item: string): Promise<void> {
    await openDrawer(this.page);
    await this.link(item, this.page.getByRole('navigation', { name: 'Main' }));
  }

  link(name: string | RegExp, within: Page | Locator = this.page): Promise<void> {
    return this.click(within.getByRole('link', { name, exact: typeof name === 'string' }).first());
  }

  button(name: string | RegExp, within: Page | Locator = this.page): Promise<void> {
    return this.click(
      within.getByRole('button', { name, exact: typeof name === 'string' }).first(),
    );
  }

  /** Chooses from a list: one click to open it, one to choose. */
  async choose(control: Locator, label: string): Promise<void> {
    this.clicks += 2;
    await pick(control, label, this.hasScripts);
  }

  /**
   * Stores a picture if PICTURES is set, searches for accessibility faults, and asserts that the page fits
   * its window and a narrow one.
   */
  async look(name: string): Promise<void> {
    const folder = process.env.PICTURES;
    if (folder) {
      await this.page.screenshot({
        path: `${folder}/${name}-${this.mark}.png`,
        fullPage: true,
      });
    }
    const size = this.page.viewportSize() ?? NARROW;
    await this.fits(size.width);
    if (this.isChecked) expect(await seriousFaults(this.page, this.hasScripts)).toEqual([]);
    if (size.width === NARROW.width) return;
    await this.page.setViewportSize(NARROW);
    await this.fits(NARROW.width);
    await this.page.setViewportSize(size);
  }

  /** Asserts that the page does not scroll sideways. Wide tables scroll within themselves. */
  private async fits(width: number): Promise<void> {
    expect(await this.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      width,
    );
  }
}

/**
 * Walks a journey with scripts in a wide window, and in all four ways in a deep run. The journey starts on
 * the dashboard, logged in, and takes at most `most` clicks.
 */
export function describeJourney(
  name: string,
  session: Session,
  most: number,
  journey: Journey,
): void {
  describeWays(name, session, most, journey, IS_DEEP ? WAYS : WAYS.slice(0, 1));
}

/** Walks a journey with scripts and without, because its search boxes are plain lists without scripts. */
export function describeJourneyBothWays(
  name: string,
  session: Session,
  most: number,
  journey: Journey,
): void {
  describeWays(name, session, most, journey, IS_DEEP ? WAYS : [WAYS[0]!, WAYS[3]!]);
}

/** Walks a journey in all four ways, one journey for each kind of page (list, object, form, run, graph). */
export function describeJourneyInAllWays(
  name: string,
  session: Session,
  most: number,
  journey: Journey,
): void {
  describeWays(name, session, most, journey, WAYS);
}

function describeWays(
  name: string,
  session: Session,
  most: number,
  journey: Journey,
  ways: typeof WAYS,
): void {
  inBrowser()(name, () => {
    it.each(ways)(`takes at most ${most} clicks %s`, async (way, given) => {
      const { test, user } = session();
      const { page, faults, close } = await visit(test, user, given);
      const mark = way.replace(/\W+/g, '-');
      const isChecked = ways.some((one) => one[0] === way && CHECKED_WAYS.has(one));
      const walk = new Walk(page, given.javaScriptEnabled === true, mark, isChecked);
      await page.goto('/');
      await journey(walk).catch(async (error: unknown) => {
        const seen = (await page.locator('main').innerText()).slice(0, 2000);
        throw new Error(`${String(error)}\nOn ${page.url()}:\n${seen}`, { cause: error });
      });
      await close();
      expect(faults).toEqual([]);
      expect(walk.clicks).toBeLessThanOrEqual(most);
    });
  });
}
