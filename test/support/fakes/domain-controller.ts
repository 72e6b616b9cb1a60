import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { Attribute, Change, Client } from 'ldapts';

import { certifiedFolder, ServerProgram } from './server-program.js';
import { TEST_CERTIFICATE } from './test-certificate.js';

const run = promisify(execFile);

const REALM = 'corp.example.com';
const PASSWORD = 'Passw0rd-of-the-domain';
/** Samba cannot use another port. */
const LDAPS_PORT = 636;

export const DOMAIN = 'DC=corp,DC=example,DC=com';
export const DOMAIN_USERS = `CN=Users,${DOMAIN}`;

/**
 * Samba as a domain controller of Active Directory, on the loopback address. Needs root, for its ports
 * and the owners of its files.
 */
export class DomainController extends ServerProgram {
  readonly url = `ldaps://127.0.0.1:${LDAPS_PORT}`;
  readonly account = { bind_dn: `Administrator@${REALM}`, bind_password: PASSWORD };
  static async start(): Promise<DomainController> {
    const controller = new DomainController(await certifiedFolder('domain-'));
    await controller.provision();
    await controller.listen();
    return controller;
  }

  private get settings(): string {
    return join(this.folder, 'etc', 'smb.conf');
  }

  private async provision(): Promise<void> {
    await run('samba-tool', [
      ...['domain', 'provision', `--targetdir=${this.folder}`, '--server-role=dc'],
      ...[`--realm=${REALM}`, '--domain=CORP', '--dns-backend=NONE', `--adminpass=${PASSWORD}`],
    ]);
    const lines = [
      '[global]',
      'interfaces = 127.0.0.1/8',
      'bind interfaces only = yes',
      `pid directory = ${this.folder}`,
      `ncalrpc dir = ${join(this.folder, 'ncalrpc')}`,
      `tls certfile = ${join(this.folder, 'cert.pem')}`,
      `tls keyfile = ${join(this.folder, 'key.pem')}`,
      'tls cafile =',
    ];
    const text = (await readFile(this.settings, 'utf8'))
      .replace(/\[homes\][^]*/, '')
      .replace(/server services = .*/, 'server services = ldap')
      .replace(/log file = .*/, `log file = ${join(this.folder, 'log')}`)
      .replace('[global]', lines.join('\n'));
    await writeFile(this.settings, text);
  }

  private listen(): Promise<void> {
    const args = ['--interactive', '--model=single', `--configfile=${this.settings}`];
    const stdio = ['pipe', 'ignore', 'ignore'] as const;
    return this.spawn(['samba', ...args], {
      port: LDAPS_PORT,
      stdio: [...stdio],
      withinMs: 30_000,
    });
  }

  /** Changes the domain with samba-tool: `tool('user', 'create', 'ada', 'password')`. */
  async tool(...args: string[]): Promise<void> {
    const login = ['-U', `Administrator%${PASSWORD}`, '-H', `tdb://${this.folder}/private/sam.ldb`];
    await run('samba-tool', [...args, `--configfile=${this.settings}`, ...login]);
  }

  /** Sets attributes of an entry. */
  async set(dn: string, values: Record<string, string>): Promise<void> {
    const client = new Client({ url: this.url, tlsOptions: { ca: TEST_CERTIFICATE } });
    try {
      await client.bind(this.account.bind_dn, this.account.bind_password);
      for (const [type, value] of Object.entries(values)) {
        const modification = new Attribute({ type, values: [value] });
        await client.modify(dn, new Change({ operation: 'replace', modification }));
      }
    } finally {
      await client.unbind();
    }
  }
}
