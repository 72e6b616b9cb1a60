import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';

import { idsIn } from './nonce.mjs';

/**
 * The statements and the answer of each exchange, taken from the product itself, so that the raw
 * server does the same work at the database and sends the same bytes. An exchange that writes is
 * recorded with the nonce of `nonce.mjs`; the raw server puts that of each request in its place.
 *
 * @param exchanges `{ key, method, path, headers, body, expected }`; without a status expected any good
 *   answer will do
 */
export async function record({ root, environment, exchanges }) {
  const restore = setEnvironment(environment);
  const app = await startInProcess(root);
  const listening = listen();
  const url = await app.getUrl();
  // The first use of a token writes when it was used; that is no part of any request measured.
  await fetch(`${url}/api/v2/me/`, { headers: exchanges[0].headers });
  const recorded = {};
  for (const { key, method = 'GET', path, headers, body, expected } of exchanges) {
    listening.statements = [];
    const response = await fetch(`${url}${path}`, { method, headers, body });
    const answer = await response.text();
    if (expected ? response.status !== expected : !response.ok) {
      throw new Error(`${path} answered ${response.status}: ${answer}`);
    }
    const { statements } = listening;
    recorded[key] = { statements, status: response.status, body: JSON.parse(answer || 'null') };
  }
  listening.end();
  await app.close();
  restore();
  return recorded;
}

/** How many statements a recorded exchange needs, without those that open and close transactions. */
export const statementsOf = ({ statements }) =>
  statements.filter(({ text }) => !['BEGIN', 'COMMIT'].includes(text)).length;

/** The API, or with `WorkerModule` the worker's providers, inside this process. */
export async function startInProcess(root, module = 'AppModule') {
  const load = (path) => import(pathToFileURL(join(root, 'dist/src', path)).href);
  const [{ NestFactory }, app, { configureApp }] = await Promise.all([
    import('@nestjs/core'),
    load(module === 'AppModule' ? 'app.module.js' : 'worker.module.js'),
    load('configure-app.js'),
  ]);
  const logger = ['error'];
  if (module !== 'AppModule') return NestFactory.createApplicationContext(app[module], { logger });
  const server = await NestFactory.create(app[module], { bodyParser: false, logger });
  configureApp(server);
  await server.listen(0, '127.0.0.1');
  return server;
}

/** Puts settings into this process's environment; @returns what takes them out again. */
export function setEnvironment(environment) {
  const before = { ...process.env };
  Object.assign(process.env, environment);
  return () => {
    for (const name of Object.keys(environment)) {
      if (name in before) process.env[name] = before[name];
      else delete process.env[name];
    }
  };
}

/** Hears every statement that this process sends, and which ids it made. */
export function listen() {
  const { query } = pg.Client.prototype;
  const listening = { statements: [], end: () => (pg.Client.prototype.query = query) };
  pg.Client.prototype.query = function heard(statement, ...rest) {
    const {
      text,
      values = [],
      name,
    } = typeof statement === 'string' ? { text: statement } : statement;
    const entry = { text, values, name, ids: [] };
    listening.statements.push(entry);
    const keep = (result) => (entry.ids = idsIn(result?.rows ?? []));
    const callback = typeof rest.at(-1) === 'function' ? rest.pop() : null;
    if (!callback) {
      const answer = query.call(this, statement, ...rest);
      answer.then(keep, () => undefined);
      return answer;
    }
    return query.call(this, statement, ...rest, (error, result) => {
      keep(result);
      callback(error, result);
    });
  };
  return listening;
}
