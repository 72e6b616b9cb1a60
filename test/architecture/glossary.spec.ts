import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from 'typescript';

import { PACKAGE_FOLDER } from '../../src/config/version.js';

const PAGES = join(PACKAGE_FOLDER, 'src', 'browser');

/** Phrases of the second table of the glossary, which pages must not use. */
const [, TABLE = ''] = readFileSync(join(PACKAGE_FOLDER, 'docs', 'glossary.md'), 'utf8').split(
  '## Replaced phrases',
);
const REPLACED = [...TABLE.matchAll(/^\| [^|]+ \| (?!Not |-)([^|]+) \|$/gm)].map(
  ([, phrase]) => new RegExp(`\\b${phrase}\\b`, 'i'),
);

/** Texts of a source file in which pages are written: literals and parts of templates. */
function textsOf(source: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddleOrTemplateTail(node)
    )
      texts.push(node.text.replace(/\s+/g, ' '));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('page.ts', source, ts.ScriptTarget.Latest));
  return texts;
}

it('the glossary is read, and a phrase is found in a template', () => {
  expect(REPLACED.length).toBeGreaterThan(20);
  const [text = ''] = textsOf('const page = html`<p>Looked\n at lately</p>`;');
  expect(REPLACED.some((phrase) => phrase.test(text))).toBe(true);
});

it('no page uses a replaced phrase', () => {
  const names = readdirSync(PAGES, { recursive: true, encoding: 'utf8' });
  const found = names
    .filter((name) => /\.(?:ts|js)$/.test(name) && !name.endsWith('.spec.ts'))
    .flatMap((name) =>
      textsOf(readFileSync(join(PAGES, name), 'utf8')).flatMap((text) =>
        REPLACED.filter((phrase) => phrase.test(text)).map(({ source }) => `${name}: ${source}`),
      ),
    );
  expect(found).toEqual([]);
});

it.each([
  ['openapi.json', /"(?:description|summary|title)": "((?:What|Whether|Of|Who)\b[^"]*)"/g],
  ['settings.md', /\| ((?:What|Whether|Of|Who)\b[^|]*)\|/g],
])('descriptions in %s start with a verb or a noun', (name, pattern) => {
  const text = readFileSync(join(PACKAGE_FOLDER, 'docs', name), 'utf8');
  expect(text.match(/description|Setting/i)).not.toBeNull();
  expect([...text.matchAll(pattern)].map(([, description]) => description)).toEqual([]);
});
