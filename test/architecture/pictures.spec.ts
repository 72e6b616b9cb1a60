import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { PACKAGE_FOLDER } from '../../src/config/version.js';

const folder = join(PACKAGE_FOLDER, 'docs', 'screenshots');
const MAX_BYTES = 200 * 1024;

const pictures = readdirSync(folder).filter((name) => name.endsWith('.png'));

const WAYS = ['dark', 'light', 'small', 'small-dark'];

it('each kind of page has screenshots: light and dark, wide and small', () => {
  const pages = pictures.flatMap((name) => /^(.+)-light\.png$/.exec(name)?.[1] ?? []);
  expect(pages.length).toBeGreaterThanOrEqual(29);
  const expected = pages.flatMap((page) => WAYS.map((way) => `${page}-${way}.png`));
  expect(pictures.toSorted()).toEqual(expected.toSorted());
});

it('no screenshot is larger than 200 KB', () => {
  const large = pictures.filter((name) => statSync(join(folder, name)).size >= MAX_BYTES);
  expect(large).toEqual([]);
});

it('the README shows three screenshots', () => {
  const readme = readFileSync(join(PACKAGE_FOLDER, 'README.md'), 'utf8');
  const shown = [...readme.matchAll(/!\[[^\]]+\]\(docs\/screenshots\/([^)]+)\)/g)].map(
    ([, name]) => name,
  );
  expect(shown).toHaveLength(3);
  expect(shown.filter((name) => !pictures.includes(String(name)))).toEqual([]);
});
