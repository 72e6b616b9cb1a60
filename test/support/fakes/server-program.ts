import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventually } from '../eventually.js';
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.js';

/** Real server that a test starts and stops, with a separate folder that contains a certificate. */
export abstract class ServerProgram {
  private child: ChildProcess | undefined;

  protected constructor(protected readonly folder: string) {}

  async stop(): Promise<void> {
    if (!this.child || this.child.exitCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Starts the program, and waits until it accepts connections. */
  protected async spawn(
    [program, ...args]: readonly [string, ...string[]],
    { port, stdio = 'ignore', withinMs }: { port: number; stdio?: StdioOptions; withinMs?: number },
  ): Promise<void> {
    this.child = spawn(program, args, { stdio });
    await eventually(() => connected(port), withinMs);
  }
}

/** Creates a folder with a certificate (`cert.pem`) and its key (`key.pem`). */
export async function certifiedFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  await writeFile(join(folder, 'cert.pem'), TEST_CERTIFICATE);
  await writeFile(join(folder, 'key.pem'), TEST_CERTIFICATE_KEY, { mode: 0o600 });
  return folder;
}

/** @throws Error if the connection is refused */
async function connected(port: number): Promise<void> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
