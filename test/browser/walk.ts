/**
 * What a person does, counted: each click is one, and so is opening a list to choose from it. Typing,
 * scrolling and looking are free.
 */
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';

import type { Row } from '../../src/common/resource/define-resource.js';
import type { TestApp } from '../support/boot.js';
import { inBrowser, pick, seriousFaults, visit } from './browser.js';

/** The browsers that people come with: each two of scripts, width and colours meet in one. */
const WAYS: readonly [name: string, options: BrowserContextOptions][] = [
  ['with scripts, wide and light', options(true, 1280, 'light')],
  ['with scripts, narrow and dark', options(true, 390, 'dark')],
  ['without scripts, wide and dark', options(false, 1280, 'dark')],
  ['without scripts, narrow and light', options(false, 390, 'light')],
];

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
    private readonly pictures: string,
  ) {}

  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
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

  /** Keeps a picture when asked for, and looks for faults of accessibility. */
  async look(name: string): Promise<void> {
    const folder = process.env.PICTURES;
    if (folder) {
      await this.page.screenshot({
        path: `${folder}/${name}-${this.pictures}.png`,
        fullPage: true,
      });
    }
    const { width } = this.page.viewportSize() ?? { width: 0 };
    // Wide tables scroll within themselves: the page never does.
    expect(await this.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      width,
    );
    expect(await seriousFaults(this.page, this.hasScripts)).toEqual([]);
  }
}

/** Walks a journey in every way; it begins on the dashboard, logged in, and must stay below the bound. */
export function describeJourney(
  name: string,
  session: () => { test: TestApp; user: Row },
  most: number,
  journey: (walk: Walk) => Promise<void>,
): void {
  inBrowser()(name, () => {
    it.each(WAYS)(`takes at most ${most} clicks %s`, async (way, given) => {
      const { test, user } = session();
      const { page, faults, close } = await visit(test, user, given);
      const mark = way.replace(/\W+/g, '-');
      const walk = new Walk(page, given.javaScriptEnabled === true, mark, mark);
      await page.goto('/');
      await journey(walk).catch(async (error: unknown) => {
        const seen = (await page.locator('main').innerText()).slice(0, 2000);
        throw new Error(`${String(error)}\nOn ${page.url()}:\n${seen}`, { cause: error });
      });
      expect(faults).toEqual([]);
      expect(walk.clicks).toBeLessThanOrEqual(most);
      await close();
    });
  });
}
