import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { browserUrl, readablePassword, readSettings } from './settings.mjs';

describe('the settings of the start command', () => {
  it('have a default for each setting', () => {
    expect(readSettings('/clone', {})).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      dataDir: '/clone/var',
      databaseUrl: null,
      redisUrl: null,
      adminUsername: 'admin',
      adminPassword: null,
      demoData: true,
    });
  });

  it('treat an empty variable as missing', () => {
    const env = { DATABASE_URL: '', PORT: ' ', DATA_DIR: '', ADMIN_PASSWORD: '' };
    expect(readSettings('/clone', env)).toEqual(readSettings('/clone', {}));
  });

  it.each(['0', 'false', 'No', 'OFF'])('disable the demo data for %s', (word) => {
    expect(readSettings('/clone', { DEMO_DATA: word }).demoData).toBe(false);
  });

  it('report all errors together', () => {
    const env = { PORT: '99999', DATABASE_URL: 'mysql://x', REDIS_URL: 'nonsense' };
    expect(() => readSettings('/clone', env)).toThrow(/PORT.*DATABASE_URL.*REDIS_URL/);
  });

  it('refuse a migration role without an external server', () => {
    const env = { MIGRATION_DATABASE_URL: 'postgresql://owner@x/controller' };
    expect(() => readSettings('/clone', env)).toThrow('MIGRATION_DATABASE_URL');
    expect(
      readSettings('/clone', { ...env, DATABASE_URL: 'postgresql://service@x/controller' }),
    ).toMatchObject({ migrationDatabaseUrl: env.MIGRATION_DATABASE_URL });
  });

  it('read a secret from the file in the variable', () => {
    const folder = mkdtempSync(join(tmpdir(), 'settings-'));
    const file = join(folder, 'password');
    writeFileSync(file, 'from a file\n');
    const env = { ADMIN_PASSWORD_FILE: file, ADMIN_PASSWORD: 'from a variable' };
    expect(readSettings('/clone', env).adminPassword).toBe('from a file');
    rmSync(folder, { recursive: true });
    expect(() => readSettings('/clone', env)).toThrow('ADMIN_PASSWORD_FILE cannot be read');
  });

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:80'],
    ['0.0.0.0', 'http://127.0.0.1:80'],
    ['::', 'http://[::1]:80'],
    ['fe80::1', 'http://[fe80::1]:80'],
    ['controller.example.org', 'http://controller.example.org:80'],
  ])('show the address of %s as %s', (host, url) => {
    expect(browserUrl({ host, port: 80 })).toBe(url);
  });

  it('generate passwords without ambiguous letters', () => {
    const passwords = new Set(Array.from({ length: 50 }, () => readablePassword()));
    expect(passwords.size).toBe(50);
    for (const password of passwords) expect(password).toMatch(/^[^0O1lIi]{20}$/);
  });
});
