import { basename, dirname } from 'node:path';

import ts from 'typescript';

import { sourceFiles } from './source-files.js';

/** Maximum length of a file. Longer files do more than one thing. */
const MAX_LINES = 400;
const files = sourceFiles('src', 'test');

it('no file is longer than 400 lines', () => {
  const long = files
    .filter(({ path }) => path.startsWith('src/'))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES);
  expect(long).toEqual([]);
});

it('files are named after their content', () => {
  const vague = /^(utils?|helpers?|misc|common|types|constants|interfaces)\.ts$/;
  const shape = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.ts$/;
  const faults = files.filter(
    ({ path }) => vague.test(basename(path)) || !shape.test(basename(path)),
  );
  expect(faults.map(({ path }) => path)).toEqual([]);
});

it('source files contain no TODO notes', () => {
  const faults = files.filter(
    ({ path, text }) => path.startsWith('src/') && /\b(TODO|FIXME|XXX)\b/.test(text),
  );
  expect(faults.map(({ path }) => path)).toEqual([]);
});

it('each advisory lock with one key has a key of its own', () => {
  const keys = sourceFiles('src', 'migrations').flatMap(({ path, text }) =>
    [...text.matchAll(/(?:LOCK(?:_KEY)? = |advisory_xact_lock\()([\d_]+)/g)].map(
      ([, key = '']) => `${key.replace('_', '')} ${path}`,
    ),
  );
  const used = new Map([...new Set(keys)].map((one) => [one.split(' ')[0], one]));
  expect(used.size).toBeGreaterThan(8);
  const shared = [...new Set(keys)].filter((one) => used.get(one.split(' ')[0]) !== one);
  // The statements of two migrations and of the repository lock the graph of roles.
  const graph = expect.stringMatching(/^7301 /) as string;
  expect(shared).toEqual([graph, graph]);
});

/** File name suffixes of the classes that the framework creates. */
const ROLES: readonly [of: RegExp, roles: readonly string[]][] = [
  [/extends TableRepository\b|@Injectable\(\)\s+export class \w+Repository\b/, ['repository']],
  [/@Module\b/, ['module']],
  [/@(Controller|Resource)\b/, ['controller']],
  [/@Processor\b/, ['processor']],
  [/@Catch\b/, ['filter']],
  [/implements [^{]*\bCanActivate\b/, ['guard']],
  [/implements [^{]*\bNestInterceptor\b/, ['interceptor']],
  [/implements [^{]*\bPipeTransform\b/, ['pipe']],
  [/(implements|extends) [^{]*Hooks\b/, ['hooks']],
  [/class \w+Extension\b/, ['extension']],
  [/@ListensToRuns\b/, ['listener']],
  [/@PagePanel\b/, ['panel']],
  [/@PageFormOf\b/, ['form']],
  [/implements [^{]*\bQueueHandler\b/, ['handler']],
  [/@Injectable\b/, ['service', 'loader', 'port']],
];

interface Made {
  /** Name of the class with dashes, for example `bulk-launch-service` for `BulkLaunchService`. */
  name: string;
  roles: readonly string[];
}

/** Returns the classes of a file that the framework creates and other files import. */
function madeIn(path: string, text: string): Made[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return file.statements.flatMap((node): Made[] => {
    if (!ts.isClassDeclaration(node) || !node.name) return [];
    if (!node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    const head = text.slice(node.getStart(file), node.members.pos);
    const [, roles] = ROLES.find(([of]) => of.test(head)) ?? [];
    return roles ? [{ name: kebab(node.name.text), roles }] : [];
  });
}

const kebab = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase();

/**
 * Returns true if the file is named after the class: `webhooks/receiver.service.ts` has `Receiver` or
 * `ReceiverService`.
 */
function isNamedAfter(path: string, { name, roles }: Made): boolean {
  const [stem = '', role = ''] = basename(path, '.ts').split('.');
  if (role === '') return stem === name && basename(dirname(path)) === name;
  return roles.includes(role) && [stem, `${stem}-${role}`].includes(name);
}

it('classes that the framework creates are in files named after them and their role', () => {
  const faults = files
    .filter(({ path }) => path.startsWith('src/') && !path.endsWith('.spec.ts'))
    .filter(({ path, text }) => {
      const made = madeIn(path, text);
      // Several small classes of one role may share a file in the plural: `launch.controllers.ts`.
      const areMany = made.length > 1 && made.every(({ roles }) => path.includes(`.${roles[0]}s.`));
      return made.length > 0 && !areMany && !made.some((one) => isNamedAfter(path, one));
    });
  expect(faults.map(({ path }) => path)).toEqual([]);
});
