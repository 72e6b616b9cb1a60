import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { messageOf, Problem } from '../console/problem.mjs';

const FALSE_WORDS = ['0', 'false', 'no', 'off'];

/** @typedef {ReturnType<typeof readSettings>} StartSettings */

/**
 * Reads the settings of `npm start` itself from the environment. Other variables pass to the service
 * unchanged. Throws one Problem that contains every error.
 *
 * @param {string} root
 * @param {NodeJS.ProcessEnv} [env]
 */
export function readSettings(root, env = process.env) {
  /** @type {string[]} */
  const errors = [];
  /** @param {string} name */
  const text = (name) => env[name]?.trim() || null;
  /** @param {string} name */
  const secret = (name) => secretText(env, name, errors);
  /** @type {(name: string, fallback: string) => boolean} */
  const isOn = (name, fallback) => !FALSE_WORDS.includes((text(name) ?? fallback).toLowerCase());
  const port = text('PORT') ?? '8080';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    errors.push(`PORT is "${port}", not a number up to 65535`);
  }
  for (const [name, ...schemes] of /** @type {const} */ ([
    ['DATABASE_URL', 'postgresql:', 'postgres:'],
    ['MIGRATION_DATABASE_URL', 'postgresql:', 'postgres:'],
    ['REDIS_URL', 'redis:', 'rediss:'],
  ])) {
    const value = secret(name);
    if (value && !schemes.some((scheme) => scheme === protocolOf(value))) {
      errors.push(`${name} is not a ${schemes[0]}// address`);
    }
  }
  if (secret('MIGRATION_DATABASE_URL') && !secret('DATABASE_URL')) {
    errors.push('MIGRATION_DATABASE_URL requires DATABASE_URL');
  }
  const adminPassword = secret('ADMIN_PASSWORD');
  const dataDir = resolve(root, text('DATA_DIR') ?? 'var');
  if (errors.length > 0) throw new Problem([...new Set(errors)].join('; '));
  return {
    root,
    host: text('HOST') ?? '127.0.0.1',
    port: Number(port),
    dataDir,
    // Folder of generated secrets, separate from a data folder that other accounts can read.
    keysDir: resolve(root, text('KEYS_DIR') ?? dataDir),
    // One folder for each process that needs the secret key and must not see the other secrets.
    secretKeyFolders: (text('SECRET_KEY_FOLDERS')?.split(',') ?? []).map((folder) =>
      resolve(root, folder.trim()),
    ),
    databaseUrl: secret('DATABASE_URL'),
    migrationDatabaseUrl: secret('MIGRATION_DATABASE_URL'),
    redisUrl: secret('REDIS_URL'),
    serviceAccount: text('SERVICE_ACCOUNT') ?? 'automation-controller',
    adminUsername: text('ADMIN_USERNAME') ?? 'admin',
    adminPassword,
    demoData: isOn('DEMO_DATA', '1'),
    withSystemAnsible: isOn('SYSTEM_ANSIBLE', '0'),
    hasSecretKey: Boolean(text('SECRET_KEY') ?? text('SECRET_KEY_FILE')),
  };
}

/**
 * Returns a password that is easy to copy by hand: no characters that look alike.
 *
 * @param {number} [length]
 */
export function readablePassword(length = 20) {
  const letters = 'abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  // 55 letters: bytes above 219 are skipped so that every letter is equally likely.
  const usable = Math.floor(256 / letters.length) * letters.length;
  let password = '';
  while (password.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < usable && password.length < length) password += letters[byte % letters.length];
    }
  }
  return password;
}

/**
 * Returns the base URL of the service for a browser on this machine.
 *
 * @param {Pick<StartSettings, 'host' | 'port'>} settings
 */
export function browserUrl({ host, port }) {
  /** @type {Record<string, string>} */
  const names = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const name = names[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${name}:${port}`;
}

// Read as the service reads its secrets: NAME_FILE names a file with the value, and takes precedence.
/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} name
 * @param {string[]} errors
 */
function secretText(env, name, errors) {
  const file = env[`${name}_FILE`];
  if (!file) return env[name]?.trim() || null;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    errors.push(`${name}_FILE cannot be read: ${messageOf(error)}`);
    return null;
  }
}

/** @param {string} value */
function protocolOf(value) {
  try {
    return new URL(value).protocol;
  } catch {
    return null;
  }
}
