/** Who may import whom. Arrows point up this table; a cycle is broken by a port or by an event. */
import { sourceFiles } from './source-files.js';

/** Below the features: what everything stands on. */
const GROUND: Record<string, readonly string[]> = {
  config: [],
  logging: ['common'],
  database: ['config'],
  common: ['config', 'database'],
  access: ['common', 'config', 'database'],
  activity: ['access', 'common', 'database'],
};
const GROUND_NAMES = [...Object.keys(GROUND), 'settings'];

/** Features whose services a feature may call. Declarations of any other are open to all. */
const SERVICES: Record<string, readonly string[]> = {
  settings: [],
  auth: ['users'],
  users: [],
  organizations: [],
  teams: [],
  credentials: [],
  labels: [],
  inventories: ['labels'],
  templates: ['labels'],
  // An update of a project is a run.
  projects: ['jobs', 'templates'],
  jobs: ['templates', 'projects', 'inventories', 'credentials', 'labels'],
  workflows: ['jobs', 'templates', 'labels'],
  'workflow-templates': ['workflows', 'jobs', 'templates', 'labels'],
  schedules: ['jobs', 'templates', 'workflow-templates', 'labels'],
  notifications: ['jobs'],
  webhooks: ['jobs', 'workflow-templates', 'templates', 'credentials', 'projects'],
  bulk: ['jobs', 'workflows', 'workflow-templates', 'templates', 'inventories'],
  // Reads what the workers say of themselves.
  capacity: ['jobs'],
  dashboard: [],
  reference: [],
  'empty-lists': [],
  root: [],
  demo: [],
};

/** Files that hold data and pure functions: no service, no state, nothing that a cycle could break. */
const DECLARATION =
  /\.(resource|schema)\.ts$|\/(sublists|tables|template-notifications|variables|receiver-kinds)\.ts$|^src\/(credentials\/types|jobs\/runner|templates\/launch|webhooks\/(services|filters))/;

const moduleOf = (path: string): string => path.split('/')[1] ?? '';
const isEntry = (path: string): boolean =>
  path.split('/').length === 2 || path.startsWith('src/cli/');

const files = sourceFiles('src').filter(({ path }) => !path.endsWith('.spec.ts'));

it('every folder of src has a place in the table', () => {
  const folders = new Set(
    files
      .map(({ path }) => path)
      .filter((path) => !isEntry(path))
      .map(moduleOf),
  );
  const known = [...Object.keys(GROUND), ...Object.keys(SERVICES), 'static', 'cli'];
  expect([...folders].filter((folder) => !known.includes(folder))).toEqual([]);
});

it('modules import only what stands above them', () => {
  const faults = files
    .filter(({ path }) => !isEntry(path))
    .flatMap(({ path, imports }) =>
      imports
        .filter((target) => target.path.startsWith('src/') && !isEntry(target.path))
        .filter((target) => !isAllowed(moduleOf(path), target.path, target.typeOnly))
        .map((target) => `${path} imports ${target.path}`),
    );
  expect(faults).toEqual([]);
});

function isAllowed(from: string, target: string, typeOnly: boolean): boolean {
  const to = moduleOf(target);
  if (from === to) return true;
  const ground = GROUND[from];
  if (ground) return ground.includes(to);
  if (GROUND_NAMES.includes(to) || DECLARATION.test(target) || typeOnly) return true;
  return SERVICES[from]?.includes(to) ?? false;
}

it('nothing imports the program, and only the program and the tests import all features', () => {
  const entries = [
    'src/main.ts',
    'src/worker.ts',
    'src/cli.ts',
    'src/app.module.ts',
    'src/features.ts',
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

it('what runs playbooks knows neither the framework nor the database nor the queue', () => {
  const faults = files
    .filter(({ path }) => path.startsWith('src/execution/runner/'))
    .flatMap(({ path, packages }) =>
      packages
        .filter((name) => /^(@nestjs|typeorm|bull|pg|ioredis)/.test(name))
        .map((name) => `${path} imports ${name}`),
    );
  expect(faults).toEqual([]);
});

it('SQL goes to the database through Database alone', () => {
  const faults = files
    .filter(({ path }) => !/^src\/(database\/|cli\/|demo\/|entities\.ts)/.test(path))
    .filter(({ packages }) => packages.includes('typeorm') || packages.includes('@nestjs/typeorm'))
    .map(({ path }) => path);
  expect(faults).toEqual([]);
});

it('Express is known to the edge of the application only', () => {
  const faults = files
    .filter(({ packages }) => packages.includes('express'))
    .filter(({ text }) => /^import (?!type)[^;]*from 'express'/m.test(text))
    .map(({ path }) => path);
  expect(
    faults.filter((path) => !/^src\/(common\/(http|browsable)\/|configure-app)/.test(path)),
  ).toEqual([]);
});

it('there are no barrels', () => {
  expect(files.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => path)).toEqual(
    [],
  );
});
