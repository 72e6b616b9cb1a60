/**
 * Only the repositories of one feature name a table (docs/decisions/0051-repositories.md). The test reads
 * every `sql` template, every text with SQL and every argument that is a table name.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { getMetadataArgsStorage } from 'typeorm';
import ts from 'typescript';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { findResource, resources } from '../../src/common/resource/define-resource.js';
import { entityOf } from '../../src/database/table.js';
import '../../src/features.module.js';
import { sourceFiles } from './source-files.js';

/** Functions of src/database whose first parameter is a table name or SQL text. */
const TAKES_NAME = new Set(['ident', 'insertRow', 'insertRows', 'raw', 'takeIds', 'updateRow']);
const AFTER_KEYWORD = /\b(?:FROM|JOIN|INTO|UPDATE|USING|ONLY|TABLE)\s+([a-z_]+)/g;
const FROM_LIST = /\b(?:FROM|USING)\s+([^()]*?)(?=\b(?:[A-Z]{2,})\b|[()]|$)/g;
const QUALIFIED = /(?<![.\w])([a-z_]+)\.[a-z_]+/g;

const tables = new Set(getMetadataArgsStorage().tables.map(({ name = '' }) => name));

interface Use {
  path: string;
  feature: string;
  table: string;
  line: number;
}

const isRepository = (path: string): boolean => path.endsWith('.repository.ts');

/** Stands for a table name that is composed at run time. */
const MADE_UP = '(a composed name)';

const parsed = new Map<string, ts.SourceFile>();

function parse(path: string): ts.SourceFile {
  const known = parsed.get(path);
  if (known) return known;
  const text = readFileSync(join(PACKAGE_FOLDER, path), 'utf8');
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  parsed.set(path, file);
  return file;
}

/** Returns the feature of a file, such as `runs` or `common/queue`. */
function featureOf(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  return first === 'common' ? `${first}/${second}` : first;
}

function usesIn(path: string): Use[] {
  const file = parse(path);
  const feature = featureOf(path);
  const uses: Use[] = [];
  const visit = (node: ts.Node): void => {
    for (const table of namesIn(node)) {
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      uses.push({ path, feature, table, line });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return uses;
}

/** Returns the tables that a node names itself, without its children. */
function namesIn(node: ts.Node): string[] {
  if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'sql') {
    return namesInSql(textOf(node.template), true);
  }
  if (ts.isTemplateExpression(node) || ts.isStringLiteralLike(node)) {
    return isTagged(node) ? [] : namesInSql(textOf(node), false);
  }
  if (ts.isCallExpression(node) && TAKES_NAME.has(node.expression.getText())) {
    return namesInArgument(node.arguments[0]);
  }
  if (ts.isVariableDeclaration(node)) return namesInArgument(node.initializer).filter(isTable);
  return [];
}

const isTagged = (node: ts.Node): boolean => ts.isTaggedTemplateExpression(node.parent);
const isTable = (name: string): boolean => tables.has(name);

function namesInArgument(argument: ts.Expression | undefined): string[] {
  if (!argument) return [];
  if (ts.isStringLiteralLike(argument)) return [argument.text].filter(isTable);
  if (ts.isTemplateExpression(argument)) {
    const { text } = argument.head;
    return text !== '' && [...tables].some((name) => name.startsWith(text)) ? [MADE_UP] : [];
  }
  // The table of a resource definition, which only the code that composes SQL from declarations may use.
  return ts.isPropertyAccessExpression(argument) && argument.name.text === 'table' ? [MADE_UP] : [];
}

function textOf(template: ts.TemplateLiteral | ts.StringLiteralLike): string {
  if (ts.isStringLiteralLike(template)) return template.text;
  return (
    template.head.text + template.templateSpans.map(({ literal }) => `$ ${literal.text}`).join('')
  );
}

/** @param isAllSql true if the whole text is SQL */
function namesInSql(text: string, isAllSql: boolean): string[] {
  const uncommented = text.replace(/--.*$/gm, '');
  const named = [...uncommented.matchAll(AFTER_KEYWORD)].map(([, name = '']) => name);
  const listed = [...uncommented.matchAll(FROM_LIST)].flatMap(([, list = '']) =>
    list
      .split(',')
      .slice(1)
      .map((item) => item.trim().split(/\s/)[0] ?? ''),
  );
  const qualified = isAllSql
    ? [...uncommented.matchAll(QUALIFIED)].map(([, name = '']) => name)
    : [];
  const whole = isAllSql ? [uncommented.trim()] : [];
  return [...named, ...listed, ...qualified, ...whole].filter(isTable);
}

const sources = sourceFiles('src').filter(
  ({ path }) => !path.endsWith('.spec.ts') && !path.startsWith('src/database/'),
);
const uses = sources
  .flatMap(({ path }) => usesIn(path))
  .filter(({ feature, table }) => !(table === MADE_UP && feature.startsWith('common/')));

it('the test finds names of tables', () => {
  expect(namesInSql('SELECT 1 FROM users u, teams JOIN hosts h ON TRUE', true)).toEqual([
    'users',
    'hosts',
    'teams',
  ]);
  expect(namesInSql('DELETE FROM hosts USING groups g WHERE hosts.id = 1', true)).toEqual([
    'hosts',
    'groups',
    'hosts',
  ]);
  expect(namesInSql('choose among users FROM below, teams too', false)).toEqual(['teams']);
  expect(uses.filter(({ path }) => isRepository(path))).not.toEqual([]);
});

it('only repositories name tables', () => {
  const others = uses.filter(({ path }) => !isRepository(path));
  expect(others.map(({ path, line, table }) => `${path}:${line} names ${table}`)).toEqual([]);
});

/** Returns the features that declare each table: directly, as a resource or as a link of one. */
function declaringFeatures(): Map<string, Set<string>> {
  const features = new Map<string, Set<string>>();
  const declare = (table: string, feature: string): void => {
    features.set(table, (features.get(table) ?? new Set()).add(feature));
  };
  for (const { path, text } of sources) {
    for (const [, table = ''] of text.matchAll(/^@Entity\('(\w+)'\)$/gm))
      declare(table, featureOf(path));
    for (const { callee, options } of declarationsIn(path)) {
      const definition = callee === 'defineResource' ? findResource(options.type ?? '') : undefined;
      // A relation that several resources share is declared where it is described.
      if (options.kind === 'many-to-many' && options.table) declare(options.table, featureOf(path));
      if (!definition) continue;
      declare(definition.table, featureOf(path));
      for (const relation of Object.values(definition.relations)) {
        if (relation.kind === 'many-to-many') declare(relation.table, featureOf(path));
      }
    }
  }
  return features;
}

interface Declaration {
  /** `defineResource`, or an empty text for the object of a relation. */
  callee: string;
  /** Members of the object whose values are string literals. */
  options: Record<string, string>;
}

function declarationsIn(path: string): Declaration[] {
  const found: Declaration[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) {
      const options = node.properties.flatMap((property) =>
        ts.isPropertyAssignment(property) && ts.isStringLiteralLike(property.initializer)
          ? [[property.name.getText(), property.initializer.text] as const]
          : [],
      );
      const callee = ts.isCallExpression(node.parent) ? node.parent.expression.getText() : '';
      found.push({ callee, options: Object.fromEntries(options) });
    }
    ts.forEachChild(node, visit);
  };
  visit(parse(path));
  return found;
}

it('only repositories of the features that declare a table name it', () => {
  const features = declaringFeatures();
  const faults = uses
    .filter(({ path, table }) => isRepository(path) && table !== MADE_UP)
    .filter(({ feature, table }) => !features.get(table)?.has(feature))
    .map(({ path, line, table }) => `${path}:${line} names ${table}`);
  expect(faults).toEqual([]);
});

it('an index supports the default order of a list, so that no list sorts its whole table', () => {
  const { indices } = getMetadataArgsStorage();
  const unsorted = resources()
    .filter(({ stored, variants }) => stored && !variants)
    .filter(({ orderBy }) => !/^-?id$/.test(orderBy[0] ?? ''))
    .filter((definition) => {
      const order = definition.orderBy.map((name) => definition.field(name)?.column);
      const entity = entityOf(definition.entity);
      const columns = indices.filter(({ target }) => target === entity).map((one) => one.columns);
      return !columns.some((names) => {
        const [first, ...rest] = Array.isArray(names) ? names : [];
        const sorted =
          definition.discriminator !== undefined && first === 'type' ? rest : [first, ...rest];
        return order.every((column, place) => column === undefined || column === sorted[place]);
      });
    });
  expect(unsorted.map(({ type }) => type)).toEqual([]);
});
