/**
 * PostgreSQL accepts every statement of every repository: each method is called with sample arguments
 * (samples/*.ts), and its statements are prepared against the migrated schema.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { DiscoveryService } from '@nestjs/core';

import { BrokenInvariant } from '../../src/common/invariants.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { MissingRow } from '../../src/database/database.js';
import { sql, Sql } from '../../src/database/sql.js';
import { TableRepository } from '../../src/database/repository.js';
import { boot, type TestApp } from '../support/boot.js';
import { PreparingPool } from '../support/preparing-pool.js';
import type { FeatureSamples } from './samples/samples.js';
import { sourceFiles } from './source-files.js';

type Method = (...args: readonly unknown[]) => unknown;

const SAMPLES = join(PACKAGE_FOLDER, 'test', 'architecture', 'samples');

interface RepositoryFile {
  path: string;
  text: string;
  /** Exported classes and functions. */
  module: object;
}

// Sequential, because the test runner loses a module that two imports wait for.
async function loadRepositories(): Promise<RepositoryFile[]> {
  const found: RepositoryFile[] = [];
  for (const { path, text } of sourceFiles('src')) {
    if (!path.endsWith('.repository.ts')) continue;
    const module = (await import(`../../${path.replace(/\.ts$/, '.js')}`)) as object;
    found.push({ path, text, module });
  }
  return found;
}

async function loadSamples(): Promise<FeatureSamples> {
  const rooms: FeatureSamples[] = [];
  for (const name of readdirSync(SAMPLES).filter((file) => file.endsWith('.samples.ts'))) {
    const path = `./samples/${name.replace(/\.ts$/, '.js')}`;
    rooms.push(((await import(path)) as { default: FeatureSamples }).default);
  }
  return {
    repositories: rooms.flatMap(({ repositories }) => repositories),
    fragments: rooms.flatMap(({ fragments }) => fragments),
  };
}

const isRepositoryClass = (value: unknown): value is abstract new () => TableRepository<object> =>
  typeof value === 'function' && value.prototype instanceof TableRepository;

const classesOf = ({ module }: RepositoryFile) => Object.values(module).filter(isRepositoryClass);

/** Returns the names of the public methods of a repository. They call the private ones. */
function methodsOf(repository: abstract new () => TableRepository<object>, text: string): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(repository.prototype))
    .filter(([name, { value }]) => name !== 'constructor' && typeof value === 'function')
    .map(([name]) => name)
    .filter((name) => !new RegExp(`^  (private|protected) (async )?${name}\\b`, 'm').test(text));
}

let test: TestApp;
let pool: PreparingPool;
let release: () => void;
let samples: FeatureSamples;
let files: RepositoryFile[];

beforeAll(async () => {
  test = await boot();
  [samples, files] = [await loadSamples(), await loadRepositories()];
  ({ pool, release } = await PreparingPool.of(test.database));
});

afterAll(async () => {
  release();
  await test.close();
});

/** Returns the error of a call, and a fault if it sends no statement. */
async function faultsOf(name: string, call: () => unknown): Promise<string[]> {
  const before = pool.statements.length;
  try {
    const made = await call();
    // A fragment that one feature passes to another.
    if (made instanceof Sql) await test.database.rows(made);
  } catch (error) {
    // No statement returns a row, which some methods rightly treat as impossible.
    const isImpossible = error instanceof BrokenInvariant || error instanceof MissingRow;
    if (!isImpossible) return [`${name}: ${String(error)}`];
  }
  return pool.statements.length > before ? [] : [`${name} sends no statement`];
}

it('PostgreSQL prepares the statements of repositories', async () => {
  const faults: string[] = [];
  for (const file of files) {
    for (const repository of classesOf(file)) {
      const sample = samples.repositories.find((one) => one.repository === repository);
      const instance = test.app.get<Record<string, Method>>(repository, { strict: false });
      for (const method of methodsOf(repository, file.text)) {
        const name = `${repository.name}.${method}`;
        const calls = sample?.calls[method] ?? [];
        if (calls.length === 0) faults.push(`${name} has no sample`);
        for (const args of calls) {
          faults.push(...(await faultsOf(name, () => instance[method]?.(...args))));
        }
      }
    }
  }
  expect(files.flatMap(classesOf)).not.toEqual([]);
  expect(faults).toEqual([]);
});

it('every repository reads ids of its table and inserts rows of all its columns', async () => {
  const faults: string[] = [];
  for (const repository of files.flatMap(classesOf)) {
    const instance = test.app.get<TableRepository<object>>(repository, { strict: false });
    const { columns } = instance.metadata;
    // Arrays are passed by SQL only, because `unnest` of an array of arrays returns no arrays.
    const values = columns
      .filter(({ isArray }) => !isArray)
      .map(({ databaseName }) => [databaseName, null]);
    faults.push(
      ...(await faultsOf(repository.name, () => instance.takeIds(1))),
      ...(await faultsOf(repository.name, () =>
        instance.insertMany([Object.fromEntries(values) as Record<string, null>]),
      )),
    );
  }
  expect(faults).toEqual([]);
});

it('PostgreSQL prepares the fragments of repositories', async () => {
  const faults: string[] = [];
  for (const { path, module } of files) {
    const sample = samples.fragments.find((one) => one.module === module);
    for (const [name, fragment] of Object.entries(module)) {
      // generic-statements.spec.ts covers statements composed from declarations.
      if (typeof fragment !== 'function' || name.endsWith('Repository')) continue;
      const given = sample?.fragments[name];
      if (!given) {
        faults.push(`${name} of ${path} has no sample`);
        continue;
      }
      const { calls, inside } = 'calls' in given ? given : { calls: given, inside: asExpression };
      for (const args of calls) {
        const made = (fragment as Method)(...args);
        if (!(made instanceof Sql)) throw new Error(`${name} of ${path} is not a fragment`);
        faults.push(...(await faultsOf(name, () => test.database.rows(inside(made)))));
      }
    }
  }
  expect(faults).toEqual([]);
});

const asExpression = (fragment: Sql): Sql => sql`SELECT (${fragment})`;

it('every repository is a provider with one instance', () => {
  const discovery = test.app.get(DiscoveryService, { strict: false });
  const provided = discovery
    .getProviders()
    .flatMap(({ instance, isAlias }) =>
      instance instanceof TableRepository && !isAlias ? [instance.constructor.name] : [],
    );
  expect(provided.sort()).toEqual(
    files
      .flatMap(classesOf)
      .map(({ name }) => name)
      .sort(),
  );
});
