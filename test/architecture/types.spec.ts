import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from 'typescript';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { sourceFiles } from './source-files.js';

/** Maximum number of casts. Lower it when casts are removed; never raise it. */
const MAX_CASTS = 26;
/** Maximum number of casts through `unknown`, which bypass the check of the compiler. */
const MAX_DOUBLE_CASTS = 0;

function castsOf(path: string): ts.AsExpression[] {
  const text = readFileSync(join(PACKAGE_FOLDER, path), 'utf8');
  const casts: ts.AsExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isAsExpression(node) && !ts.isConstTypeReference(node.type)) casts.push(node);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return casts;
}

const casts = sourceFiles('src')
  .filter(({ path }) => !path.endsWith('.spec.ts'))
  .flatMap(({ path }) => castsOf(path));

it('the number of casts is limited', () => {
  expect(casts.length).toBeGreaterThan(0);
  expect(casts.length).toBeLessThanOrEqual(MAX_CASTS);
});

it('the number of casts through unknown is limited', () => {
  const double = casts.filter(
    ({ expression }) =>
      ts.isAsExpression(expression) && expression.type.kind === ts.SyntaxKind.UnknownKeyword,
  );
  expect(double.length).toBeLessThanOrEqual(MAX_DOUBLE_CASTS);
});
