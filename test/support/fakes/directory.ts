import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Attribute, Change, Client } from 'ldapts';

import { freePort } from '../../faults/support/processes.js';
import { certifiedFolder, ServerProgram } from './server-program.js';

export const BASE = 'dc=example,dc=com';
export const PEOPLE = `ou=people,${BASE}`;
export const GROUPS = `ou=groups,${BASE}`;
export const ADMIN = { bind_dn: `cn=admin,${BASE}`, bind_password: 'password-of-the-directory' };

type Attributes = Record<string, string | string[]>;

const MODULES = ['back_mdb', 'memberof'];
const SCHEMAS = ['core', 'cosine', 'inetorgperson', 'nis'];

/** OpenLDAP's slapd on the loopback address, with TLS and the overlay `memberof`. */
export class Directory extends ServerProgram {
  private constructor(
    folder: string,
    readonly port: number,
    readonly tlsPort: number,
  ) {
    super(folder);
  }

  static async start(): Promise<Directory> {
    const folder = await certifiedFolder('directory-');
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'slapd.conf'), settingsIn(folder));
    const directory = new Directory(folder, await freePort(), await freePort());
    await directory.run();
    await directory.add(BASE, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'x' });
    for (const ou of ['people', 'groups']) {
      await directory.add(`ou=${ou},${BASE}`, { objectClass: 'organizationalUnit', ou });
    }
    return directory;
  }

  get url(): string {
    return `ldap://127.0.0.1:${this.port}`;
  }

  /** Starts the server, also after `stop`. */
  run(): Promise<void> {
    const urls = `${this.url} ldaps://127.0.0.1:${this.tlsPort}`;
    const args = ['-f', join(this.folder, 'slapd.conf'), '-h', urls, '-d', '0'];
    return this.spawn(['/usr/sbin/slapd', ...args], { port: this.port });
  }

  /** Adds a user. @returns the DN */
  async person(uid: string, attributes: Attributes = {}): Promise<string> {
    const dn = `uid=${uid.replace(/[,+]/g, '\\$&')},${PEOPLE}`;
    const objectClass = 'inetOrgPerson';
    const names = { cn: uid, sn: 'Lovelace', givenName: 'Ada', mail: 'ada@example.com' };
    await this.add(dn, {
      objectClass,
      uid,
      ...names,
      userPassword: `${uid}-secret`,
      ...attributes,
    });
    return dn;
  }

  /** Adds a group. @returns the DN */
  async group(cn: string, attributes: Attributes): Promise<string> {
    const dn = `cn=${cn},${GROUPS}`;
    await this.add(dn, { cn, ...attributes });
    return dn;
  }

  add(dn: string, attributes: Attributes): Promise<void> {
    return this.as((client) => client.add(dn, attributes));
  }

  /** Moves an entry, whose `entryUUID` stays the same. */
  move(dn: string, to: string): Promise<void> {
    return this.as((client) => client.modifyDN(dn, to));
  }

  remove(dn: string, type: string, value: string): Promise<void> {
    const modification = new Attribute({ type, values: [value] });
    return this.as((client) =>
      client.modify(dn, new Change({ operation: 'delete', modification })),
    );
  }

  private async as(work: (client: Client) => Promise<void>): Promise<void> {
    const client = new Client({ url: this.url });
    try {
      await client.bind(ADMIN.bind_dn, ADMIN.bind_password);
      await work(client);
    } finally {
      await client.unbind();
    }
  }
}

const settingsIn = (folder: string): string =>
  [
    ...SCHEMAS.map((name) => `include /etc/ldap/schema/${name}.schema`),
    'modulepath /usr/lib/ldap',
    ...MODULES.map((name) => `moduleload ${name}`),
    `TLSCertificateFile ${join(folder, 'cert.pem')}`,
    `TLSCertificateKeyFile ${join(folder, 'key.pem')}`,
    'database mdb',
    `suffix "${BASE}"`,
    `rootdn "${ADMIN.bind_dn}"`,
    `rootpw ${ADMIN.bind_password}`,
    `directory ${join(folder, 'data')}`,
    'dbnosync',
    'overlay memberof',
    'access to attrs=userPassword by anonymous auth by * none',
    'access to * by users read',
  ].join('\n');
