import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '../../faults/support/processes.js';
import { eventually } from '../eventually.js';
import { TEST_CERTIFICATE, TEST_CERTIFICATE_KEY } from './test-certificate.js';

/** Message that rsyslog received, as it understood the header. */
export interface SyslogMessage {
  application: string;
  severity: string;
  facility: string;
  source: string;
  text: string;
}

/** rsyslog on the loopback address: TCP, TLS and UDP. It writes what it receives to a file. */
export class Rsyslog {
  private child: ChildProcess | undefined;

  private constructor(
    private readonly folder: string,
    /** Port of TCP and UDP. */
    readonly port: number,
    readonly tlsPort: number,
  ) {}

  static async create(): Promise<Rsyslog> {
    const folder = await mkdtemp(join(tmpdir(), 'rsyslog-'));
    const server = new Rsyslog(folder, await freePort(), await freePort());
    await writeFile(join(folder, 'cert.pem'), TEST_CERTIFICATE);
    await writeFile(join(folder, 'key.pem'), TEST_CERTIFICATE_KEY, { mode: 0o600 });
    await writeFile(join(folder, 'messages'), '');
    await writeFile(join(folder, 'rsyslog.conf'), server.settings());
    return server;
  }

  private settings(): string {
    const file = (name: string): string => join(this.folder, name);
    return `
global(workDirectory="${this.folder}" maxMessageSize="64k"
  defaultNetstreamDriverCAFile="${file('cert.pem')}"
  defaultNetstreamDriverCertFile="${file('cert.pem')}"
  defaultNetstreamDriverKeyFile="${file('key.pem')}")
module(load="imtcp")
module(load="imudp")
input(type="imtcp" address="127.0.0.1" port="${this.port}")
input(type="imtcp" address="127.0.0.1" port="${this.tlsPort}" streamDriver.name="ossl"
  streamDriver.mode="1" streamDriver.authMode="anon")
input(type="imudp" address="127.0.0.1" port="${this.port}")
template(name="received" type="string"
  string="%APP-NAME%\\t%syslogseverity-text%\\t%syslogfacility-text%\\t%MSGID%\\t%msg%\\n")
action(type="omfile" file="${file('messages')}" template="received")
`;
  }

  /** Starts the server, also after `stop`. */
  async run(): Promise<void> {
    const { folder } = this;
    const args = ['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')];
    this.child = spawn('/usr/sbin/rsyslogd', args, { stdio: 'ignore' });
    await eventually(
      () =>
        new Promise<void>((resolve, reject) => {
          const socket = connect(this.port, '127.0.0.1', () => {
            socket.destroy();
            resolve();
          }).once('error', reject);
        }),
    );
  }

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

  async messages(): Promise<SyslogMessage[]> {
    const text = await readFile(join(this.folder, 'messages'), 'utf8');
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const [application = '', severity = '', facility = '', source = '', ...rest] =
          line.split('\t');
        return { application, severity, facility, source, text: rest.join('\t').trim() };
      });
  }
}
