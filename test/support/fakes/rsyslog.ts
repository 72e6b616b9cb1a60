import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { freePort } from '../../faults/support/processes.js';
import { certifiedFolder, ServerProgram } from './server-program.js';

/** Message that rsyslog received, with the fields of its header. */
export interface SyslogMessage {
  application: string;
  severity: string;
  facility: string;
  source: string;
  text: string;
}

/** rsyslog on the loopback address: TCP, TLS and UDP. It writes messages to a file. */
export class Rsyslog extends ServerProgram {
  private constructor(
    folder: string,
    /** Port of TCP and UDP. */
    readonly port: number,
    readonly tlsPort: number,
  ) {
    super(folder);
  }

  static async create(): Promise<Rsyslog> {
    const folder = await certifiedFolder('rsyslog-');
    const server = new Rsyslog(folder, await freePort(), await freePort());
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
  run(): Promise<void> {
    const { folder, port } = this;
    const args = ['-n', '-f', join(folder, 'rsyslog.conf'), '-i', join(folder, 'pid')];
    return this.spawn(['/usr/sbin/rsyslogd', ...args], { port });
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
