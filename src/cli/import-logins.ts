import { readFile } from 'node:fs/promises';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { isRecord } from '../common/records.js';
import { FeaturesModule } from '../features.module.js';
import { LoginImport } from '../identity/login-import.service.js';

@Module({ imports: [FeaturesModule] })
class ImportLoginsModule {}

/** Imports the logins from a response of `GET /api/v2/settings/all/` of the reference product. */
export async function importLogins(argv: readonly string[]): Promise<number> {
  const [file] = argv;
  if (file === undefined) {
    process.stderr.write('Specify the file with the response of GET /api/v2/settings/all/.\n');
    return 2;
  }
  const values: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!isRecord(values)) {
    process.stderr.write(`${file} does not contain a JSON object.\n`);
    return 2;
  }
  const app = await NestFactory.createApplicationContext(ImportLoginsModule, { logger: ['error'] });
  try {
    const { created, secrets, notes } = await app.get(LoginImport, { strict: false }).run(values);
    print('Created, disabled', created);
    print('Secrets to enter', secrets);
    print('Not carried over', notes);
    return 0;
  } finally {
    await app.close();
  }
}

function print(title: string, lines: readonly string[]): void {
  const items = lines.length === 0 ? ['nothing'] : lines;
  process.stdout.write(`${title}:\n${items.map((line) => `  - ${line}\n`).join('')}`);
}
