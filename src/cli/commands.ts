import { cleanup } from './cleanup.js';
import { doctor } from './doctor.js';
import { migrationCheck, migrationNew } from './migration-files.js';
import { migrate } from './migrate.js';
import { rotateIdentityKey } from './rotate-identity-key.js';
import { rotateSecretKey } from './rotate-secret-key.js';
import { createSuperuser, createToken, ensureAdmin } from './accounts.js';
import { demoData } from './demo-data.js';
import { importLogins } from './import-logins.js';
import { openapi, routes } from './documents.js';
import { notificationDocs } from './notification-docs.js';
import { settingsDocs } from './settings-docs.js';
import { messageOf } from '../common/errors/errors.js';

interface CliCommand {
  summary: string;
  run(argv: readonly string[]): Promise<number | void>;
}

/** Administrative commands by name. */
const COMMANDS: ReadonlyMap<string, CliCommand> = new Map<string, CliCommand>([
  ['migrate', { summary: 'run pending migrations', run: migrate }],
  ['migration-new', { summary: 'write a migration from the entities', run: migrationNew }],
  [
    'migration-check',
    { summary: 'fail if migrations and declarations differ', run: migrationCheck },
  ],
  ['create-superuser', { summary: '--username NAME [--password TEXT]', run: createSuperuser }],
  ['ensure-admin', { summary: 'create the first administrator if none exists', run: ensureAdmin }],
  ['create-token', { summary: '--username NAME [--scope read|write]', run: createToken }],
  ['doctor', { summary: 'check the requirements of an installation', run: doctor }],
  ['cleanup', { summary: 'remove records past their retention', run: cleanup }],
  [
    'rotate-secret-key',
    { summary: 'encrypt stored secrets with a new SECRET_KEY', run: rotateSecretKey },
  ],
  [
    'import-logins',
    {
      summary: 'FILE: create authenticators from the settings of an existing controller',
      run: importLogins,
    },
  ],
  [
    'rotate-identity-key',
    { summary: 'add a key that signs identity tokens of runs', run: rotateIdentityKey },
  ],
  ['demo-data', { summary: 'create the demo objects, once', run: demoData }],
  ['openapi', { summary: 'write docs/openapi.json, or compare it with --check', run: openapi }],
  [
    'settings-docs',
    { summary: 'write docs/settings.md, or compare it with --check', run: settingsDocs },
  ],
  [
    'notification-docs',
    { summary: 'write docs/notifications.md, or compare it with --check', run: notificationDocs },
  ],
  ['routes', { summary: 'print every URL with method and handler', run: routes }],
]);

/**
 * Runs one administrative command.
 *
 * @returns the exit code
 */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const [name = 'help', ...rest] = argv;
  const command = COMMANDS.get(name);
  if (!command) {
    const list = [...COMMANDS].map(([key, { summary }]) => `  ${key.padEnd(20)} ${summary}`);
    process.stderr.write(`Usage: controller <command>\n\n${list.join('\n')}\n`);
    return name === 'help' ? 0 : 2;
  }
  try {
    return (await command.run(rest)) ?? 0;
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return 1;
  }
}
