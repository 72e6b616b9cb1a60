import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { provideTools } from './tools.mjs';

describe('the programs of the service', () => {
  const { PATH = '' } = process.env;
  /** @type {string} */
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tools-'));
    // The newest Python of the machine cannot create an environment.
    const python = join(folder, 'python3.14');
    writeFileSync(python, '#!/bin/sh\nprintf /usr/bin/false\n', { mode: 0o755 });
    process.env.PATH = `${folder}${delimiter}${PATH}`;
  });
  afterEach(() => {
    process.env.PATH = PATH;
    rmSync(folder, { recursive: true });
  });

  it('include the Ansible of the system if the current one cannot be installed, with a warning', async () => {
    const log = join(folder, 'log');
    const tools = await provideTools({ dataDir: folder, log });
    expect(tools.warning).toMatch(/^Jobs run with the system's Ansible 2\.\d+\.\d+: \S+ failed/);
    expect(tools.path).toBe(process.env.PATH);
    const asked = await provideTools({ dataDir: folder, log, withSystemAnsible: true });
    expect(asked).toMatchObject({ warning: null, path: process.env.PATH });
  });
});
