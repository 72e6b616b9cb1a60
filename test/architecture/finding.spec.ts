/**
 * A URL leads to its code: `/api/v2/job_templates/` is handled by `job-templates.controller.ts`, which leads
 * to the permissions, the fields, the SQL and the tests.
 */
import { basename, dirname } from 'node:path';

import '../../src/app.module.js';
import { resources } from '../../src/common/resource/define-resource.js';
import { sourceFiles, type SourceFile } from './source-files.js';
import { entityOf } from '../../src/database/table.js';

const files = sourceFiles('src').filter(({ path }) => !path.endsWith('.spec.ts'));
const byPath = new Map(files.map((file) => [file.path, file]));
const specs = sourceFiles('test/api', 'test/queue').filter(({ path }) => path.endsWith('spec.ts'));

/** Returns the feature of a file: `src/runs` for `src/runs/events/job-events.controller.ts`. */
const featureOf = (path: string): string => path.split('/').slice(0, 2).join('/');
const dashed = (path: string): string => path.replaceAll('_', '-');

/** Collections with stored rows. */
const collections = resources().filter(({ stored }) => stored);

/** Returns the controllers named after a collection. */
const controllersOf = (path: string): SourceFile[] =>
  files.filter((file) => basename(file.path) === `${dashed(path)}.controller.ts`);

/** Returns the declaration of a collection, which its controller imports from its own folder. */
const declarationOf = (controller: SourceFile, path: string): SourceFile | undefined =>
  controller.imports
    .filter((target) => dirname(target.path) === dirname(controller.path))
    .flatMap((target) => byPath.get(target.path) ?? [])
    .find((file) => file.path.endsWith('.resource.ts') && file.text.includes(`path: '${path}'`));

/** Returns the paths of collections that break a rule. */
function without(holds: (controller: SourceFile, at: (typeof collections)[number]) => boolean) {
  return collections
    .filter((one) => controllersOf(one.path).some((controller) => !holds(controller, one)))
    .map(({ path }) => path);
}

it('every collection has one controller, named after it', () => {
  expect(collections.length).toBeGreaterThan(30);
  const counts = collections.map(({ path }) => [path, controllersOf(path).length]);
  expect(counts.filter(([, count]) => count !== 1)).toEqual([]);
});

it('the policy of a collection is declared beside its controller', () => {
  expect(without((controller, { path }) => declarationOf(controller, path) !== undefined)).toEqual(
    [],
  );
});

it('the fields of a collection are in an entity of the feature, near its declaration', () => {
  const holds = (controller: SourceFile, one: (typeof collections)[number]): boolean => {
    const declaration = declarationOf(controller, one.path);
    const seen = [declaration, ...(declaration?.imports ?? []).map(({ path }) => byPath.get(path))];
    return seen.some(
      (file) =>
        file !== undefined &&
        /\.(entity|resource)\.ts$/.test(file.path) &&
        featureOf(file.path) === featureOf(controller.path) &&
        file.text.includes(`class ${one.entity.name} `),
    );
  };
  expect(without(holds)).toEqual([]);
});

it('the SQL of a collection is in a repository of the feature, or of that of its table', () => {
  const holds = (
    { path }: SourceFile,
    { table, entity }: (typeof collections)[number],
  ): boolean => {
    const shown = collections.filter((one) => one.table === table);
    const features = shown
      .flatMap((one) => controllersOf(one.path))
      .map((one) => featureOf(one.path));
    return files.some(
      (file) =>
        file.path.endsWith('.repository.ts') &&
        [featureOf(path), ...features].includes(featureOf(file.path)) &&
        file.text.includes(`@InjectRepository(${entityOf(entity)?.name})`),
    );
  };
  expect(without(holds)).toEqual([]);
});

/** Prefixes of the test files of collections that belong to another one, and are tested with it. */
const TESTED_WITH: Readonly<Record<string, string>> = {
  ad_hoc_command_events: 'ad-hoc-commands',
  authenticator_maps: 'authenticators',
  inventory_update_events: 'inventory-updates',
  job_host_summaries: 'job-events',
  workflow_approval_templates: 'workflow-approvals',
  workflow_job_nodes: 'workflow-jobs',
};

it('the tests of a collection are named after it or its feature, and request it', () => {
  const holds = (controller: SourceFile, { path }: (typeof collections)[number]): boolean => {
    const feature = basename(featureOf(controller.path));
    const prefixes = [TESTED_WITH[path] ?? dashed(path), feature];
    return specs.some(
      (spec) =>
        prefixes.some((prefix) => new RegExp(`^${prefix}[-.]`).test(basename(spec.path))) &&
        new RegExp(`[\\\`'/"]${path}/`).test(spec.text),
    );
  };
  expect(without(holds)).toEqual([]);
});

it('a controller with inherited routes declares their URL', () => {
  const inherited = files.flatMap(({ text }) =>
    [...text.matchAll(/@Controller\(\)\nexport abstract class (\w+)/g)].map(([, name]) => name),
  );
  expect(inherited.length).toBeGreaterThan(5);
  const silent = files.flatMap(({ text }) =>
    [...text.matchAll(/@Resource\(\w+\)\nexport class (\w+) extends (\w+)/g)]
      .filter(([, , base]) => inherited.includes(base))
      .map(([, name]) => name),
  );
  expect(silent).toEqual([]);
});
