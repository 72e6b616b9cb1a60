/**
 * What a person does, counted: each click is one, and so is opening a list to choose from it. Typing,
 * scrolling and looking are free.
 */
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';

import type { Row } from '../../src/common/resource/define-resource.js';
import type { TestApp } from '../support/boot.js';
import { IS_DEEP } from '../support/depth.js';
import { inBrowser, openDrawer, pick, seriousFaults, visit } from './browser.js';

/** How a person works: every two values of scripts, width and colors meet in one of the four. */
const WAYS: readonly (readonly [name: string, options: BrowserContextOptions])[] = [
  ['with scripts, wide and light', options(true, 1280, 'light')],
  ['with scripts, narrow and dark', options(true, 390, 'dark')],
  ['without scripts, wide and dark', options(false, 1280, 'dark')],
  ['without scripts, narrow and light', options(false, 390, 'light')],
];

/** The ways in which axe checks the pages: both kinds of DOM. A deep run checks all four. */
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
    /** Tells the runs of a journey apart, where names have to differ. */
    readonly mark: string,
    private readonly isChecked: boolean,
  ) {}

  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
  }

  /** Opens an item of the sidebar, which is a drawer on a small screen: that takes no click of the goal. */
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

  /** Opening and choosing: two clicks. */
  async choose(control: Locator, label: string): Promise<void> {
    this.clicks += 2;
    await pick(control, label, this.hasScripts);
  }

  /**
   * Keeps a picture when PICTURES is set, looks for faults of accessibility, and verifies that the
   * page fits its window and a narrow one.
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

  /** Wide tables scroll within themselves: the page never does. */
  private async fits(width: number): Promise<void> {
    expect(await this.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      width,
    );
  }
}

/**
 * Walks a journey with scripts in a wide window, and in all four ways in a deep run. The journey
 * begins on the dashboard, logged in, and takes at most `most` clicks.
 */
export function describeJourney(
  name: string,
  session: Session,
  most: number,
  journey: Journey,
): void {
  describeWays(name, session, most, journey, IS_DEEP ? WAYS : WAYS.slice(0, 1));
}

/** Walks a journey with scripts and without: one whose search boxes are plain lists without scripts. */
export function describeJourneyBothWays(
  name: string,
  session: Session,
  most: number,
  journey: Journey,
): void {
  describeWays(name, session, most, journey, IS_DEEP ? WAYS : [WAYS[0]!, WAYS[3]!]);
}

/** Walks a journey in all four ways: one for each kind of page (list, object, form, run, graph). */
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
