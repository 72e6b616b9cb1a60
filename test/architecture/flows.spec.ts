/**
 * The three flows of docs/flows.md are readable: each names a limited number of files, in an order in which
 * every file is connected to an earlier one.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { sourceFiles, type SourceFile } from './source-files.js';

/** Maximum number of files of a flow that a reader can remember. */
const MAX = 30;

const page = readFileSync(join(PACKAGE_FOLDER, 'docs', 'flows.md'), 'utf8');
const files = new Map(sourceFiles('src').map((file) => [file.path, file]));

/** Returns the paths that a section names, without duplicates, in its order. */
function namedIn(heading: string): string[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const paths = [...section.matchAll(/`(src\/[^`*]+\.ts)`/g)].map(([, path = '']) => path);
  return [...new Set(paths)];
}

const importsOf = (path: string): SourceFile['imports'] => files.get(path)?.imports ?? [];
const reaches = (from: string, to: string): boolean =>
  importsOf(from).some(({ path }) => path === to);

/**
 * Returns true for files that the framework instantiates: they are steps of a flow, and not functions that a
 * step calls.
 */
const isStep = (path: string): boolean =>
  /\.(controller|guard|service|loader|handler|repository)\.ts$/.test(path);

/** Returns the steps in some folders that are reached from files by run-time imports. */
function stepsFrom(entries: readonly string[], folders: readonly string[]): string[] {
  const seen = new Set(entries);
  for (const path of seen) {
    for (const { path: next, typeOnly } of importsOf(path)) {
      if (!typeOnly && folders.includes(dirname(next))) seen.add(next);
    }
  }
  return [...seen].filter(isStep);
}

/** Entry files of each flow, and the folders that serve this flow only. */
const FLOWS = [
  ['One request', ['src/teams/teams.controller.ts'], ['src/teams']],
  ['One delivery', ['src/webhooks/receiver.controllers.ts'], ['src/webhooks']],
  [
    'One run',
    ['src/execution/scheduler/scheduler.ts', 'src/execution/worker/runs.processor.ts'],
    ['src/execution/scheduler', 'src/execution/worker', 'src/execution/sandbox'],
  ],
] as const;

describe.each(FLOWS)('%s', (heading, entries, folders) => {
  const named = namedIn(heading);

  it(`names at most ${MAX} files, all of which exist`, () => {
    expect(named.length).toBeGreaterThan(10);
    expect(named.length).toBeLessThanOrEqual(MAX);
    expect(named.filter((path) => !files.has(path))).toEqual([]);
  });

  it('links each file to an earlier one by an import', () => {
    const loose = named.filter(
      (path, at) =>
        at > 0 && !named.slice(0, at).some((other) => reaches(other, path) || reaches(path, other)),
    );
    expect(loose).toEqual([]);
  });

  it('contains every step in its feature folders', () => {
    const steps = stepsFrom(entries, folders).filter((path) => !named.includes(path));
    expect(steps.map((path) => basename(path))).toEqual([]);
  });
});
