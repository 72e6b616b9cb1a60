import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Starts the API in this process.
 *
 * @param {string} root
 * @returns {Promise<import('@nestjs/common').INestApplication>}
 */
export async function startInProcess(root) {
  const load = (/** @type {string} */ path) =>
    import(pathToFileURL(join(root, 'dist/src', path)).href);
  const { NestFactory } = await import('@nestjs/core');
  const { AppModule } = await load('app.module.js');
  const { configureApp } = await load('configure-app.js');
  const server = await NestFactory.create(AppModule, { bodyParser: false, logger: ['error'] });
  configureApp(server);
  await server.listen(0, '127.0.0.1');
  return server;
}

/**
 * Adds settings to the environment of this process.
 *
 * @param {NodeJS.ProcessEnv} environment
 * @returns a function that restores the environment
 */
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
