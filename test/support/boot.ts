/**
 * The real application for API tests, one for each spec file:
 *
 *   let test: TestApp;
 *   beforeAll(async () => { test = await boot(); });
 *   afterAll(() => test.close());
 *
 *   it('lets a member read the team', async () => {
 *     const { as, make, home } = test;
 *     const team = await make.team({ organization: home.organization.id });
 *     const { body } = await as.orgMember.get(`teams/${team.id}/`).expect(200);
 *   });
 *
 * `as` are the personas (personas.ts), `make` makes rows (make.ts), `home` is the organization and
 * the team the personas belong to. The database is an own copy: make rows and assert on them; other
 * files are not seen. Settings go in by their environment names: `boot({ settings: { LOGIN_RATE: '3' } })`.
 * Queries are counted by queries.ts. Whatever must wait uses `eventually`, never a sleep.
 * Jobs of the queues are done only when a worker runs: `const worker = await bootWorker(test)`,
 * closed before the application; for one handler, `worker.get(HandlerClass).handle(id)` is quicker.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';

import { AppModule } from '../../src/app.module.js';
import { HttpAdapter } from '../../src/common/http/http-adapter.js';
import { buildDocument, serveDocument } from '../../src/common/openapi/document.js';
import { configureApp } from '../../src/configure-app.js';
import { Database } from '../../src/database/database.js';
import { VERSION } from '../../src/config/version.js';
import { WorkerModule } from '../../src/worker.module.js';
import { Factories } from './make.js';
import { createPersonas, type Home, type Personas } from './personas.js';
import { createTestDatabase } from './test-database.js';

export interface TestApp {
  app: NestExpressApplication;
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  url: string;
  database: Database;
  make: Factories;
  as: Personas;
  home: Home;
  close(): Promise<void>;
}

export interface BootOptions {
  /** Settings by environment name. */
  settings?: Record<string, string>;
  /** Builds and serves the OpenAPI document too. */
  openapi?: boolean;
  /** Gives the URL by which the application reaches its database, such as that of a proxy. */
  database?: (url: string) => string;
}

let boots = 0;

/** Boots the application on a free port with an own database, queue prefix and data folder. */
export async function boot({
  settings = {},
  openapi = false,
  database = (url) => url,
}: BootOptions = {}): Promise<TestApp> {
  boots += 1;
  const copy = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'controller-test-'));
  const remove = async (): Promise<void> => {
    await copy.drop();
    await rm(folder, { recursive: true, force: true });
  };
  const environment = {
    SECRET_KEY: 'a key for tests, of no value anywhere else',
    DEMO_DATA: '0',
    OUTBOUND_ALLOW: '127.0.0.0/8,::1/128',
    ...settings,
    DATABASE_URL: database(copy.url),
    DATA_DIR: folder,
    // Files that one process runs after another must not find each other's counters.
    QUEUE_PREFIX: `test-${process.pid}-${Date.now().toString(36)}-${boots}`,
  };
  try {
    const app = await withEnvironment(environment, () => start(openapi));
    environments.set(app, environment);
    const make = new Factories(app);
    const url = urlOf(app);
    const { as, home } = await createPersonas(url, make);
    const close = async (): Promise<void> => {
      await app.close();
      await remove();
    };
    return { app, url, database: app.get(Database), make, as, home, close };
  } catch (error) {
    await remove();
    throw error;
  }
}

const environments = new WeakMap<NestExpressApplication, Record<string, string>>();

/** Runs `work` with further environment variables; the next boot must not find them. */
async function withEnvironment<T>(
  variables: Record<string, string>,
  work: () => Promise<T>,
): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}

/** Runs `work` with the settings of an application and further ones, as a command beside it has them. */
export function withSettingsOf<T>(
  { app }: TestApp,
  settings: Record<string, string>,
  work: () => Promise<T>,
): Promise<T> {
  return withEnvironment({ ...environments.get(app), ...settings }, work);
}

async function start(openapi: boolean): Promise<NestExpressApplication> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, new HttpAdapter(), {
    bodyParser: false,
    logger: ['error', 'fatal'],
    abortOnError: false,
  });
  configureApp(app);
  if (openapi) serveDocument(app, () => buildDocument(app, VERSION));
  await app.listen(0, '127.0.0.1');
  return app;
}

function urlOf(app: NestExpressApplication): string {
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** Boots a worker beside an application: same database, same queues. Close it first. */
export function bootWorker({ app }: TestApp): Promise<INestApplicationContext> {
  return withEnvironment(environments.get(app) ?? {}, () =>
    NestFactory.createApplicationContext(WorkerModule, {
      logger: ['error', 'fatal'],
      abortOnError: false,
    }),
  );
}
