import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppModule } from '../app.module.js';
import { permissionOf } from '../common/rest/route.js';
import { RouteTable } from '../common/rest/route-table.service.js';
import { buildDocument } from '../openapi/document.js';
import { configureApp } from '../configure-app.js';
import { PACKAGE_FOLDER, VERSION } from '../config/version.js';

async function withApp<T>(work: (app: NestExpressApplication) => T): Promise<T> {
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    bodyParser: false,
    logger: ['error'],
  });
  try {
    return work(app);
  } finally {
    await app.close();
  }
}

/** Writes `docs/openapi.json`. With `--check`, fails if the file is outdated. */
export async function openapi(argv: readonly string[]): Promise<number> {
  const document = await withApp((app) => {
    configureApp(app);
    return buildDocument(app, VERSION);
  });
  const text = `${JSON.stringify(document, null, 2)}\n`;
  return writeOrCheck('openapi.json', text, argv, 'npm run openapi');
}

/**
 * Writes a generated file of `docs/`, or compares the file with `--check`.
 *
 * @param command command that updates the file, for the message
 * @returns the exit code
 */
export async function writeOrCheck(
  name: string,
  text: string,
  argv: readonly string[],
  command: string,
): Promise<number> {
  const file = join(PACKAGE_FOLDER, 'docs', name);
  if (!argv.includes('--check')) {
    await writeFile(file, text);
    return 0;
  }
  const current = await readFile(file, 'utf8').catch(() => '');
  if (current === text) return 0;
  process.stderr.write(`docs/${name} is not up to date: run ${command}.\n`);
  return 1;
}

/** Prints method, path, handler and required permission of every route. */
export async function routes(): Promise<void> {
  const lines = await withApp((app) =>
    app
      .get(RouteTable)
      .routes.map(({ method, pattern, handler, info }) => {
        const needs = info ? permissionOf(info) : 'Refused.';
        return [method.padEnd(7), `${pattern}/`.padEnd(64), handler.padEnd(48), needs].join(' ');
      })
      .sort(),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
}
