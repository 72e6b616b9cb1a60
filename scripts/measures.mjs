/**
 * `node scripts/measures.mjs`, a part of `npm run check`, counts in the syntax tree the constructs that make
 * the code of `src` long or hard to read, and prints each count with its limit and its goal. Exits 1 if a
 * count exceeds its limit. Lower a limit when a change allows it; raise none above its goal but that of all
 * lines, by the lines that a new feature needs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

import { print } from './console/progress.mjs';

/** @typedef {{ path: string, code: number, imports: number, source: ts.SourceFile, comments: string[] }} File */
/** @typedef {readonly [name: string, value: number, limit: number, goal: number]} Measure */

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const files = paths(join(root, 'src'), /(?<!\.spec)\.ts$/).map(read);
const records = paths(join(root, 'docs', 'decisions'), /\.md$/).map((path) =>
  readFileSync(path, 'utf8'),
);

const code = sum(files.map((file) => file.code));
/** @param {RegExp} pattern */
const codeIn = (pattern) =>
  sum(files.filter(({ path }) => pattern.test(path)).map((file) => file.code));

/** @type {readonly Measure[]} */
const measures = [
  ['lines of code', code, 88_728, 68_000],
  ['lines of code in src/common', codeIn(/^src\/common\//), 10_321, 10_500],
  ['lines of pages outside of src/browser', codeIn(/^src\/(?!browser\/).*\bpages\//), 0, 0],
  [
    'lines of imports in 1,000 of code',
    Math.round((1000 * sum(files.map(({ imports }) => imports))) / code),
    121,
    90,
  ],
  [
    'percent of files under 30 lines',
    Math.round((100 * files.filter((file) => file.code < 30).length) / files.length),
    22,
    22,
  ],
  ['modules that are @Global', decorators('Global'), 5, 5],
  ['providers looked up by hand', calls(/^(?:services|context)\.find$|providers\.find$/), 3, 5],
  ['routes added by addRoute', calls(/^addRoute$/), 0, 0],
  ['names exported by several files', repeatedExports(), 7, 12],
  [
    'comments that open with What, Whether, Of or Who',
    comments(/^(?:What|Whether|Of|Who)\b/),
    0,
    60,
  ],
  [
    'comments with whoever, somebody, nobody or he',
    comments(/\b(?:whoever|somebody|nobody|he)\b/i),
    1,
    40,
  ],
  ['literals packed by spreads', packedLiterals(), 2, 5],
  ['decision records', records.length, 50, 50],
  [
    'words in decision records',
    sum(records.map((text) => text.split(/\s+/).length)),
    15_000,
    15_000,
  ],
  ['casts', nodes(isCast), 23, 60],
];
/** @type {readonly Measure[]} */
const wanted = [
  ['classes with @Entity', decorators('Entity'), 81, 40],
  ['modules with forFeature', calls(/^TypeOrmModule\.forFeature$/), 27, 20],
  ['uses of @InjectRepository', decorators('InjectRepository'), 74, 20],
];

for (const [name, value, limit, goal] of measures) report(name, value, value > limit, limit, goal);
for (const [name, value, limit, goal] of wanted) report(name, value, value < limit, limit, goal);

/**
 * @param {string} name
 * @param {number} value
 * @param {boolean} isOver
 * @param {number} limit
 * @param {number} goal
 */
function report(name, value, isOver, limit, goal) {
  print(
    `${String(value).padStart(7)}  ${name} (limit ${limit}, goal ${goal})${isOver ? ' ✗' : ''}`,
  );
  if (isOver) process.exitCode = 1;
}

/**
 * @param {string} folder
 * @param {RegExp} name
 */
function paths(folder, name) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => name.test(path))
    .map((path) => join(folder, path));
}

/**
 * @param {string} path
 * @returns {File}
 */
function read(path) {
  const text = readFileSync(path, 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = new Set();
  /** @type {Map<number, string>} */
  const comments = new Map();
  /** @param {ts.Node} node */
  const visit = (node) => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      comments.set(range.pos, text.slice(range.pos, range.end));
    }
    if (node.getChildCount(source) === 0) {
      for (
        let line = lineOf(source, node.getStart(source));
        line <= lineOf(source, node.end);
        line++
      ) {
        if (node.end > node.getStart(source)) lines.add(line);
      }
    }
    for (const child of node.getChildren(source)) {
      if (!ts.isJSDoc(child)) visit(child);
    }
  };
  visit(source);
  const imports = source.statements.filter(ts.isImportDeclaration);
  return {
    path: relative(root, path),
    code: lines.size,
    imports: sum(
      imports.map((node) => 1 + lineOf(source, node.end) - lineOf(source, node.getStart(source))),
    ),
    source,
    comments: joined([...comments.values()]),
  };
}

/**
 * @param {ts.SourceFile} source
 * @param {number} position
 */
function lineOf(source, position) {
  return source.getLineAndCharacterOfPosition(position).line;
}

/**
 * Returns the sentences of comments, without comment marks.
 *
 * @param {readonly string[]} texts
 */
function joined(texts) {
  return texts.map((text) => text.replaceAll(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)\s?|\*\/$/gm, '').trim());
}

/** @param {RegExp} pattern */
function comments(pattern) {
  return sum(files.map((file) => file.comments.filter((text) => pattern.test(text)).length));
}

/** @param {(node: ts.Node) => boolean} counts */
function nodes(counts) {
  let count = 0;
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (counts(node)) count += 1;
    ts.forEachChild(node, visit);
  };
  for (const { source } of files) visit(source);
  return count;
}

/** @param {RegExp} pattern */
function calls(pattern) {
  return nodes((node) => ts.isCallExpression(node) && pattern.test(node.expression.getText()));
}

/** @param {string} name */
function decorators(name) {
  return nodes((node) => ts.isDecorator(node) && node.getText().startsWith(`@${name}(`));
}

/** @param {ts.Node} node */
function isCast(node) {
  return ts.isAsExpression(node) && !ts.isConstTypeReference(node.type);
}

/** Counts spreads of a literal in a literal: `{ ...{ a, b } }`, `[...[a, b]]`. */
function packedLiterals() {
  return nodes(
    (node) =>
      (ts.isSpreadAssignment(node) && ts.isObjectLiteralExpression(node.expression)) ||
      (ts.isSpreadElement(node) && ts.isArrayLiteralExpression(node.expression)),
  );
}

function repeatedExports() {
  /** @type {Map<string, Set<string>>} */
  const places = new Map();
  for (const { source, path } of files) {
    for (const name of exportsOf(source)) {
      places.set(name, (places.get(name) ?? new Set()).add(path));
    }
  }
  return [...places.values()].filter(({ size }) => size > 1).length;
}

/** @param {ts.SourceFile} source */
function exportsOf(source) {
  return source.statements.flatMap((node) => {
    const isExported =
      ts.canHaveModifiers(node) &&
      ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) return [];
    if (ts.isVariableStatement(node)) {
      return node.declarationList.declarations.map(({ name }) => name.getText());
    }
    return 'name' in node && node.name ? [/** @type {ts.Identifier} */ (node.name).getText()] : [];
  });
}

/** @param {readonly number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
