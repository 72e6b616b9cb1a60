import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The statements and the answer of each request, taken from the product itself, so that the raw
 * server does the same work at the database and sends the same bytes.
 */
export async function record({ root, environment, token, wanted }) {
  const before = { ...process.env };
  Object.assign(process.env, environment);
  const load = (path) => import(pathToFileURL(join(root, 'dist/src', path)).href);
  const [{ NestFactory }, { AppModule }, { configureApp }, { Database }] = await Promise.all([
    import('@nestjs/core'),
    load('app.module.js'),
    load('configure-app.js'),
    load('database/database.js'),
  ]);
  const app = await NestFactory.create(AppModule, { bodyParser: false, logger: ['error'] });
  configureApp(app);
  await app.listen(0, '127.0.0.1');
  const pool = app.get(Database).dataSource.driver.master;
  const query = pool.query.bind(pool);
  let statements = [];
  pool.query = (statement) => {
    statements.push({ text: statement.text, values: statement.values ?? [], name: statement.name });
    return query(statement);
  };
  // The first use of a token writes when it was used; that is no part of any request measured.
  await fetch(`${await app.getUrl()}${wanted[0].path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const recorded = {};
  for (const { path } of wanted) {
    statements = [];
    const response = await fetch(`${await app.getUrl()}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const body = await response.json();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${body.detail}`);
    recorded[path] = { statements, body };
  }
  await app.close();
  for (const name of Object.keys(environment)) {
    if (name in before) process.env[name] = before[name];
    else delete process.env[name];
  }
  return recorded;
}
