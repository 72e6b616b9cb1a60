/**
 * Starts the real application for API tests. Spec files of one process share the application. Each file has a
 * clean database, clean queues and an empty data folder:
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
 * `as` are the personas (personas.ts), `make` creates rows (make.ts), `home` is the organization and
 * the team the personas belong to. Create rows and assert on them: rows of other files are removed.
 * Settings have their environment names: `boot({ settings: { LOGIN_RATE: '3' } })` starts
 * an application for this file only. So does `boot({ own: true })`, for files that change the application
 * itself or shut down parts of it.
 * queries.ts counts queries. A test that must wait uses `eventually`, never a sleep.
 * Jobs of the queues are executed only by a worker: `const worker = await bootWorker(test)`,
 * closed before the application; for one handler, `worker.get(HandlerClass).handle(id)` is faster.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import type { DataSource } from 'typeorm';

import { AppModule } from '../../src/app.module.js';
import { PasswordHasher } from '../../src/common/crypto/password-hash.js';
import { HttpAdapter } from '../../src/common/http/http-adapter.js';
import { buildDocument } from '../../src/openapi/document.js';
import { serveExplorer } from '../../src/browser/shared/explorer.js';
import { RedisConnection } from '../../src/common/queue/redis-connection.service.js';
import { configureApp } from '../../src/configure-app.js';
import { Database } from '../../src/database/database.js';
import { VERSION } from '../../src/config/version.js';
import { RejectionLog } from '../../src/webhooks/rejection-log.service.js';
import { WorkerModule } from '../../src/worker.module.js';
import { Factories } from './make.js';
import { createPersonas, signIn, type Home, type PersonaRows, type Personas } from './personas.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

export interface TestApp {
  app: NestExpressApplication;
  /** URL `http://127.0.0.1:<port>`, without a trailing slash. */
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
  /** Starts an application for this file only, which changes or shuts down parts of it. */
  own?: boolean;
  /** Returns the URL by which the application reaches its database, for example that of a proxy. */
  database?: (url: string) => string;
}

let boots = 0;
/** Application that the spec files of this process share, and its state. */
let shared: SharedApp | null = null;
let isInUse = false;

/**
 * Returns an application on a free port with a database, a queue prefix and a data folder that contain only
 * the personas. Without options the layers that load the product once (docs/decisions/0071) use the
 * application of the process; all others get a new application.
 */
export async function boot(options: BootOptions = {}): Promise<TestApp> {
  if (isInUse || !isSharingProcess() || !isShareable(options)) return bootOwn(options);
  isInUse = true;
  try {
    shared ??= await SharedApp.start();
    return await shared.acquire();
  } catch (error) {
    shared = null;
    isInUse = false;
    throw error;
  }
}

const isShareable = ({ settings, database, own = false }: BootOptions): boolean =>
  !settings && !database && !own;

/** Returns true in the layers whose test runner ends the process, and the application with it. */
const isSharingProcess = (): boolean => Symbol.for('spec files share a process') in globalThis;

async function bootOwn(options: BootOptions): Promise<TestApp> {
  const { app, remove } = await bootWithoutPersonas(options, shared?.template);
  try {
    const make = new Factories(app);
    const people = structuredClone(shared?.people) ?? (await createPersonas(make));
    const close = async (): Promise<void> => {
      await app.close();
      await remove();
    };
    return { ...(await signedIn(app, make, people)), close };
  } catch (error) {
    await app.close();
    await remove();
    throw error;
  }
}

async function signedIn(
  app: NestExpressApplication,
  make: Factories,
  people: PersonaRows,
): Promise<Omit<TestApp, 'close'>> {
  make.actAs(people.users.superuser);
  const url = urlOf(app);
  const as = await signIn(url, make, people);
  return { app, url, database: app.get(Database), make, as, home: people.home };
}

/** Application with its database and its data folder. */
interface Booted {
  app: NestExpressApplication;
  copy: TestDatabase;
  folder: string;
  /** Removes the database and the folder, after the end of the application. */
  remove: () => Promise<void>;
}

async function bootWithoutPersonas(
  { settings = {}, database = (url) => url }: BootOptions,
  template?: string,
): Promise<Booted> {
  boots += 1;
  const copy = await createTestDatabase(undefined, template);
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
    // Files of one process must not share counters.
    QUEUE_PREFIX: `test-${process.pid}-${Date.now().toString(36)}-${boots}`,
  };
  try {
    const app = await withEnvironment(environment, () => start());
    environments.set(app, environment);
    return { app, copy, folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Application whose database is replaced between two spec files by a copy of a template with the personas.
 */
class SharedApp {
  private constructor(
    private readonly booted: Booted,
    readonly template: string,
    readonly people: PersonaRows,
  ) {}

  static async start(): Promise<SharedApp> {
    const booted = await bootWithoutPersonas({});
    const people = await createPersonas(new Factories(booted.app));
    await driverOf(booted.app).disconnect();
    return new SharedApp(booted, await booted.copy.becomeTemplate(), people);
  }

  async acquire(): Promise<TestApp> {
    const { app, copy } = this.booted;
    await copy.recreateFrom(this.template);
    await driverOf(app).connect();
    const people = structuredClone(this.people);
    const close = (): Promise<void> => this.release();
    return { ...(await signedIn(app, new Factories(app), people)), close };
  }

  /**
   * Removes everything that a spec file left behind: rows, keys in Redis, files, and memory of the product.
   */
  private async release(): Promise<void> {
    const { app, folder } = this.booted;
    try {
      await app.get(RejectionLog, { strict: false }).flush();
      (app.getHttpServer() as Server).closeAllConnections();
      await driverOf(app).disconnect();
      await deleteKeys(app.get(RedisConnection, { strict: false }));
      for (const name of await readdir(folder))
        await rm(join(folder, name), { recursive: true, force: true });
      isInUse = false;
    } catch (error) {
      // The next file gets a new application.
      shared = null;
      isInUse = false;
      throw error;
    }
  }
}

/** Returns TypeORM's driver, which owns the connections. */
const driverOf = (app: NestExpressApplication): DataSource['driver'] =>
  app.get(Database).dataSource.driver;

async function deleteKeys(redis: RedisConnection): Promise<void> {
  const keys = redis.client.scanStream({ match: redis.key('*'), count: 1000 });
  for await (const found of keys as AsyncIterable<string[]>)
    if (found.length > 0) await redis.client.unlink(found);
}

const environments = new WeakMap<NestExpressApplication, Record<string, string>>();

/** Runs `work` with additional environment variables, and then restores the environment. */
export async function withEnvironment<T>(
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

/** Runs `work` with the settings of an application and additional settings, as for a command. */
export function withSettingsOf<T>(
  { app }: TestApp,
  settings: Record<string, string>,
  work: () => Promise<T>,
): Promise<T> {
  return withEnvironment({ ...environments.get(app), ...settings }, work);
}

/** Cost of hashing passwords, a thousandth of that of the product: the passwords of tests are no secrets. */
const FAST = { logN: 4, r: 8, p: 1 };

/** Starts an API with the settings of the environment, on a free port. */
export async function start(): Promise<NestExpressApplication> {
  const module = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(PasswordHasher)
    .useValue(new PasswordHasher({ cost: FAST }))
    .compile();
  const app = module.createNestApplication<NestExpressApplication>(new HttpAdapter(), {
    bodyParser: false,
    logger: ['error', 'fatal'],
    abortOnError: false,
  });
  configureApp(app);
  serveExplorer(app, () => buildDocument(app, VERSION));
  await app.listen(0, '127.0.0.1');
  return app;
}

/** Returns the URL of an API, without a trailing slash. */
export function urlOf(app: NestExpressApplication): string {
  const { port } = (app.getHttpServer() as Server).address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** Starts a worker for an application, with the same database and queues. Close it before the application. */
export function bootWorker({ app }: TestApp): Promise<INestApplicationContext> {
  return withEnvironment(environments.get(app) ?? {}, () => startWorker());
}

/** Starts a worker with the settings of the environment. */
export function startWorker(): Promise<INestApplicationContext> {
  return NestFactory.createApplicationContext(WorkerModule, {
    logger: ['error', 'fatal'],
    abortOnError: false,
  });
}
