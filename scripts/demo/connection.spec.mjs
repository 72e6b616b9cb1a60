import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { connect } from './connection.mjs';

it('the demo finds the server of npm start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'));
  const server = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  process.env.DATA_DIR = folder;
  try {
    await expect(connect()).rejects.toThrow('Run npm start first');
    writeFileSync(join(folder, 'running.json'), JSON.stringify({ url }));
    writeFileSync(join(folder, 'admin_token'), 'word\n');
    expect((await connect()).url).toBe(url);
  } finally {
    delete process.env.DATA_DIR;
    server.close();
    rmSync(folder, { recursive: true });
  }
});
