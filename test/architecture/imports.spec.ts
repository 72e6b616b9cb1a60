/** Imports between features follow the tables of docs/architecture.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { sourceFiles, type SourceFile } from './source-files.js';

/** Features below `folder` with their permitted imports, in the order of the table. */
interface Features {
  folder: string;
  /** Imports by feature. Files directly in `folder` belong to none: they compose the program. */
  allowed: ReadonlyMap<string, readonly string[]>;
}

const page = readFileSync(join(PACKAGE_FOLDER, 'docs', 'architecture.md'), 'utf8');

/** Reads the table below a heading: name of the feature, its content, names of its imports. */
function featuresOf(heading: string, folder: string): Features {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| `([^`]+)` \|[^|]*\|([^|]*)\|$/gm)];
  const names = (text: string): string[] => text.match(/[a-z-]+/g) ?? [];
  return {
    folder,
    allowed: new Map(rows.map(([, feature = '', imports = '']) => [feature, names(imports)])),
  };
}

const files = sourceFiles('src').filter(({ path }) => !path.endsWith('.spec.ts'));
const isEntry = (path: string): boolean =>
  path.split('/').length === 2 || path.startsWith('src/cli/');

/** Returns the feature of a file, or null for files outside of features. */
function featureOf({ folder }: Features, path: string): string | null {
  if (!path.startsWith(`${folder}/`)) return null;
  const [feature = '', ...rest] = path.slice(folder.length + 1).split('/');
  return rest.length > 0 ? feature : null;
}

interface Arrow {
  from: string;
  to: string;
  /** Text `a.ts imports b.ts` for the report. */
  where: string;
  typeOnly: boolean;
}

const arrowsOf = (features: Features): Arrow[] =>
  files.filter(({ path }) => !isEntry(path)).flatMap((file) => arrowsFrom(features, file));

const arrowsFrom = (features: Features, { path, imports }: SourceFile): Arrow[] =>
  imports.flatMap((target) => {
    const [from, to] = [featureOf(features, path), featureOf(features, target.path)];
    if (from === null || to === null || from === to) return [];
    return [{ from, to, where: `${path} imports ${target.path}`, typeOnly: target.typeOnly }];
  });

describe.each([
  ['Features', featuresOf('Features', 'src'), (): boolean => true],
  // Fields may use the types of the objects they refer to, as types do not exist at run time.
  [
    'Common machinery',
    featuresOf('Common machinery', 'src/common'),
    ({ typeOnly }: Arrow): boolean => !typeOnly,
  ],
  ['Pages', featuresOf('Pages', 'src/browser'), (): boolean => true],
] as const)('%s', (_name, features, counts) => {
  const names = [...features.allowed.keys()];
  const arrows = arrowsOf(features).filter(counts);

  it('are all in the table', () => {
    const found = files.flatMap(({ path }) => featureOf(features, path) ?? []);
    expect([...new Set(found)].filter((feature) => feature !== 'cli').sort()).toEqual(
      [...names].sort(),
    );
  });

  it('import only names above them in the table, so that there are no cycles', () => {
    const faults = [...features.allowed].flatMap(([feature, imports]) =>
      imports
        .filter(
          (name) => !(names.indexOf(name) >= 0 && names.indexOf(name) < names.indexOf(feature)),
        )
        .map((name) => `${feature} may not import ${name}`),
    );
    expect(faults).toEqual([]);
  });

  it('import only what the table permits', () => {
    const faults = arrows.filter(({ from, to }) => !features.allowed.get(from)?.includes(to));
    expect(faults.map(({ where }) => where)).toEqual([]);
  });

  it('use every import that the table permits', () => {
    const used = new Set(arrows.map(({ from, to }) => `${from} imports ${to}`));
    const permitted = [...features.allowed].flatMap(([feature, imports]) =>
      imports.map((name) => `${feature} imports ${name}`),
    );
    expect(permitted.filter((arrow) => !used.has(arrow))).toEqual([]);
  });
});

it('no module imports the program, and only the program and the tests import all features', () => {
  const entries = [
    'src/main.ts',
    'src/worker.ts',
    'src/cli.ts',
    'src/app.module.ts',
    'src/features.module.ts',
  ];
  const faults = files
    .filter(({ path }) => !isEntry(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => entries.includes(target.path))
        .map((target) => `${path} imports ${target.path}`),
    );
  expect(faults).toEqual([]);
});

it('only the program imports pages', () => {
  const faults = files
    .filter(({ path }) => !isEntry(path) && !path.startsWith('src/browser/'))
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.path.startsWith('src/browser/'))
        .map((target) => `${path} imports ${target.path}`),
    );
  expect(faults).toEqual([]);
});

it('code that runs playbooks imports neither framework nor database nor queue', () => {
  const faults = files
    .filter(({ path }) => path.startsWith('src/execution/runner/'))
    .flatMap(({ path, packages }) =>
      packages
        .filter((name) => /^(@nestjs|typeorm|bull|pg|ioredis)/.test(name))
        .map((name) => `${path} imports ${name}`),
    );
  expect(faults).toEqual([]);
});

it('SQL is executed through Database and repositories only', () => {
  const faults = files
    .filter(({ path }) => !/^src\/(database\/|cli\/|demo\/)/.test(path))
    .filter(({ text }) =>
      /\b(?:DataSource|EntityManager|QueryRunner)\b[^;]*from 'typeorm'/.test(text),
    )
    .map(({ path }) => path);
  expect(faults).toEqual([]);
});

it('Express is imported only at the edge of the application', () => {
  const faults = files
    .filter(({ packages }) => packages.includes('express'))
    .filter(({ text }) => /^import (?!type)[^;]*from 'express'/m.test(text))
    .map(({ path }) => path);
  expect(
    faults.filter((path) => !/^src\/(common\/(http|rest)\/|configure-app)/.test(path)),
  ).toEqual([]);
});

it('there are no barrel files', () => {
  expect(files.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => path)).toEqual(
    [],
  );
});
