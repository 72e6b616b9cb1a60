import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { resource } from '../common/resource/registry.js';
import type { Row } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import { DEMO_FOLDER, DEMO_PLAYBOOK, writeDemoProject } from './demo-project.js';

const HOST_VARIABLES = [
  'ansible_connection: local',
  'ansible_python_interpreter: "{{ ansible_playbook_python }}"',
].join('\n');

const DEMO_ORGANIZATION = 'Default';
const GALAXY_NAME = 'Ansible Galaxy';
const GALAXY_URL = 'https://galaxy.ansible.com/';

/** The objects a first start comes with, so that something can be launched at once. */
@Injectable()
export class DemoData {
  constructor(
    private readonly resources: ResourceService,
    private readonly database: Database,
    private readonly settings: Settings,
  ) {}

  /** Makes them once in the life of an installation; deleted ones do not come back. */
  async make(): Promise<boolean> {
    await writeDemoProject(this.settings.DATA_DIR);
    return this.database.transaction(async () => {
      const objects = await this.once('demo_data', (actor) => this.makeObjects(actor));
      const server = await this.once('demo_galaxy_credential', (actor) =>
        this.makeGalaxyCredential(actor),
      );
      return objects || server;
    });
  }

  /** Does a part unless this installation has had it: each version's part has a name of its own. */
  private async once(name: string, work: (actor: Actor) => Promise<void>): Promise<boolean> {
    const first = await this.database.execute(sql`
      INSERT INTO installation (name, value) VALUES (${name}, now()::text)
      ON CONFLICT (name) DO NOTHING`);
    if (first > 0) await work(await this.administrator());
    return first > 0;
  }

  private async makeObjects(actor: Actor): Promise<void> {
    const organization =
      (await this.findOrganization()) ??
      (await this.create(actor, 'organization', { name: DEMO_ORGANIZATION }));
    const project = await this.create(actor, 'project', {
      name: 'Demo Project',
      organization: organization.id,
      local_path: DEMO_FOLDER,
    });
    const inventory = await this.create(actor, 'inventory', {
      name: 'Demo Inventory',
      organization: organization.id,
    });
    await this.create(actor, 'host', {
      name: 'localhost',
      inventory: inventory.id,
      variables: HOST_VARIABLES,
    });
    const credential = await this.create(actor, 'credential', {
      name: 'Demo Credential',
      organization: organization.id,
      credential_type: await this.credentialType('ssh'),
      inputs: { username: 'admin' },
    });
    const template = await this.create(actor, 'job_template', {
      name: 'Demo Job Template',
      inventory: inventory.id,
      project: project.id,
      playbook: DEMO_PLAYBOOK,
    });
    await this.database.execute(sql`
      INSERT INTO job_template_credentials (job_template_id, credential_id)
      VALUES (${template.id}, ${credential.id})`);
  }

  /**
   * The public server of collections, for the organization that clients look it up in. One of that
   * name that is there already is attached as it is.
   */
  private async makeGalaxyCredential(actor: Actor): Promise<void> {
    const organization = await this.findOrganization();
    if (!organization) return;
    const type = await this.credentialType('galaxy_api_token');
    const credential =
      (await this.database.row<Row>(sql`
        SELECT * FROM credentials WHERE name = ${GALAXY_NAME} AND credential_type_id = ${type}
          AND organization_id = ${organization.id}`)) ??
      (await this.create(actor, 'credential', {
        name: GALAXY_NAME,
        organization: organization.id,
        credential_type: type,
        inputs: { url: GALAXY_URL },
      }));
    await this.database.execute(sql`
      INSERT INTO organization_galaxy_credentials (organization_id, credential_id)
      VALUES (${organization.id}, ${credential.id}) ON CONFLICT DO NOTHING`);
  }

  private create(actor: Actor, type: string, body: Record<string, unknown>): Promise<Row> {
    return this.resources.create(resource(type), body, actor);
  }

  private findOrganization(): Promise<Row | undefined> {
    return this.database.row<Row>(
      sql`SELECT * FROM organizations WHERE name = ${DEMO_ORGANIZATION}`,
    );
  }

  private async credentialType(namespace: string): Promise<number> {
    const row = await this.database.row<Row>(sql`
      SELECT id FROM credential_types WHERE managed AND namespace = ${namespace}`);
    if (!row) throw new Error(`No credential type ${namespace}: run migrate first.`);
    return row.id;
  }

  private async administrator(): Promise<Actor> {
    const row = await this.database.row<{ id: number; username: string }>(
      sql`SELECT id, username FROM users WHERE is_superuser ORDER BY id LIMIT 1`,
    );
    if (!row) throw new Error('Demo data needs an administrator: run ensure-admin first.');
    return { ...row, isSuperuser: true, isSystemAuditor: false };
  }
}
