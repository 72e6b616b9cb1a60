import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { notificationPage } from '../../src/cli/notification-docs.js';
import { settingsTable } from '../../src/cli/settings-docs.js';
import { SETTINGS, Settings } from '../../src/config/settings.js';
import { PACKAGE_FOLDER } from '../../src/config/version.js';
import { sourceFiles } from './source-files.js';

it('the documentation of every setting is current', () => {
  expect(readFileSync(join(PACKAGE_FOLDER, 'docs', 'settings.md'), 'utf8')).toBe(settingsTable());
});

it('the documentation of every notification type is current', () => {
  const page = readFileSync(join(PACKAGE_FOLDER, 'docs', 'notifications.md'), 'utf8');
  expect(page).toBe(notificationPage());
});

it('every setting is used somewhere', () => {
  const text = sourceFiles('src')
    .filter(({ path }) => path !== 'src/config/settings.ts')
    .map((file) => file.text)
    .join('\n');
  // Read by the scripts that set a service up.
  const scripts = new Set(['DEMO_DATA', 'SERVICE_ACCOUNT', 'SYSTEM_ANSIBLE']);
  const unused = Object.keys(SETTINGS).filter((name) => !scripts.has(name) && !text.includes(name));
  expect(unused).toEqual([]);
});

it('defaults are within their own limits', () => {
  const environment = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, { type, default: value }]) => [
      name,
      type === 'map' ? JSON.stringify(value) : String(value ?? ''),
    ]),
  );
  const needed = { DATABASE_URL: 'postgres://x', REDIS_URL: 'redis://x', SECRET_KEY: 'x' };
  expect(() => Settings.load({ ...environment, ...needed })).not.toThrow();
});

it('all errors of an environment are reported together', () => {
  const environment = {
    ...{ PORT: '70000', PAGE_SIZE: 'x', LOG_LEVEL: 'loud', DEMO_DATA: 'perhaps' },
    AWX_TASK_ENV: '{"A": 1}',
    ...{ BASE_URL: 'controller.example.org', INSTANCE_NAME: 'x'.repeat(251) },
  };
  for (const name of [
    'PORT',
    'PAGE_SIZE',
    'LOG_LEVEL',
    'DEMO_DATA',
    'AWX_TASK_ENV',
    'BASE_URL',
    'INSTANCE_NAME',
    'DATABASE_URL',
    'REDIS_URL',
    'SECRET_KEY',
  ]) {
    expect(() => Settings.load(environment)).toThrow(name);
  }
});
