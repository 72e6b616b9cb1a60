import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { jest } from '@jest/globals';

import { printBanner } from './banner.mjs';
import { dataFiles } from './data-folder.mjs';
import { readSettings } from './settings.mjs';

describe('the banner', () => {
  /** @type {string} */
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'banner-'));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  it.each([
    [
      { by: 'bubblewrap 0.8.0' },
      /^ {2}Jobs +Ansible 2\.19\.14, isolated with bubblewrap 0\.8\.0$/m,
    ],
    [
      { detail: 'JOB_ISOLATION is none' },
      /^ {2}Jobs .*NOT isolated: JOB_ISOLATION is none; playbooks can read this installation's secrets/m,
    ],
    [{ refusal: 'There is no bubblewrap.' }, /^ {2}Jobs .*NOT run\. There is no bubblewrap\./m],
  ])('describes the sandbox of runs: %j', (isolation, line) => {
    let printed = '';
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      printed += String(text);
      return true;
    });
    const settings = readSettings(folder, {});
    printBanner({
      settings,
      files: dataFiles(folder),
      seconds: '1',
      isolation,
      ansible: '2.19.14',
    });
    expect(printed).toMatch(line);
  });
});
