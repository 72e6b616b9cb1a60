import { existsSync } from 'node:fs';

import { print, strong } from '../console/progress.mjs';
import { displayPath } from './data-folder.mjs';
import { browserUrl } from './settings.mjs';

/**
 * @typedef {{ settings: import('./settings.mjs').StartSettings,
 *   files: import('./data-folder.mjs').DataFiles, newPassword?: string | undefined, seconds: string,
 *   isolation: import('./programs.mjs').Isolation | null, ansible: string }} Banner
 */

/**
 * Prints the first steps when all programs run. The password is shown only if it was just created.
 *
 * @param {Banner} banner
 */
export function printBanner({ settings, files, newPassword, seconds, isolation, ansible }) {
  const url = browserUrl(settings);
  /** @type {[name: string, text: string][]} */
  const lines = [
    ['Open', strong(`${url}/`)],
    ['Login', loginText({ settings, files, newPassword })],
    ...tokenLine(files),
    ['Logs', `${displayPath(files.logs)}/`],
    ...jobsLine(isolation, ansible),
  ];
  print();
  print(`${strong('The automation controller is running')} (started in ${seconds} s)`);
  print();
  for (const [name, text] of lines) print(`  ${name.padEnd(6)} ${text}`);
  print();
  if (existsSync(files.adminToken)) {
    const token = `"Authorization: Bearer $(cat ${shellWord(displayPath(files.adminToken))})"`;
    print(`  curl -H ${token} ${url}/api/v2/job_templates/`);
    print();
  }
  print('  Ctrl-C stops it.');
}

/**
 * @param {Banner['files']} files
 * @returns {[name: string, text: string][]}
 */
function tokenLine({ adminToken }) {
  return existsSync(adminToken) ? [['Token', `in ${displayPath(adminToken)}`]] : [];
}

/**
 * @param {Banner['isolation']} isolation
 * @param {string} ansible
 * @returns {[name: string, text: string][]}
 */
function jobsLine(isolation, ansible) {
  if (!isolation) return [];
  const { by, detail, refusal } = isolation;
  if (by) return [['Jobs', `Ansible ${ansible}, isolated with ${by}`]];
  if (refusal) return [['Jobs', strong(`NOT run. ${refusal}`)]];
  const danger = "playbooks can read this installation's secrets";
  return [['Jobs', strong(`NOT isolated: ${detail}; ${danger}`)]];
}

/** @param {Pick<Banner, 'settings' | 'files' | 'newPassword'>} banner */
function loginText({ settings, files, newPassword }) {
  if (newPassword) {
    return `${settings.adminUsername} / ${newPassword}   (stored in ${displayPath(files.adminPassword)})`;
  }
  if (settings.adminPassword) return `${settings.adminUsername}, password from ADMIN_PASSWORD`;
  if (existsSync(files.adminPassword)) {
    return `${settings.adminUsername}, password in ${displayPath(files.adminPassword)}`;
  }
  return `${settings.adminUsername}, with the password from its creation`;
}

/** @param {string} text */
function shellWord(text) {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
