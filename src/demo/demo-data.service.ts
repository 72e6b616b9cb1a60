import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { resource } from '../common/resource/registry.js';
import type { Row } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/resource/resource.service.js';
import { Settings } from '../config/settings.js';
import { Database } from '../database/database.js';
import { ident, sql } from '../database/sql.js';
import { DEMO_FOLDER, DEMO_PLAYBOOK, writeDemoProject } from './demo-project.js';

const HOST_VARIABLES = [
  'ansible_connection: local',
  'ansible_python_interpreter: "{{ ansible_playbook_python }}"',
].join('\n');

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
      const first = await this.database.execute(sql`
        INSERT INTO installation (name, value) VALUES ('demo_data', now()::text)
        ON CONFLICT (name) DO NOTHING`);
      if (first === 0) return false;
      await this.makeObjects(await this.administrator());
      return true;
    });
  }

  private async makeObjects(actor: Actor): Promise<void> {
    const organization = (await this.findOrganization()) ?? (await this.organization(actor));
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
      credential_type: await this.machineType(),
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

  private create(actor: Actor, type: string, body: Record<string, unknown>): Promise<Row> {
    return this.resources.create(resource(type), body, actor);
  }

  private organization(actor: Actor): Promise<Row> {
    return this.create(actor, 'organization', { name: 'Default' });
  }

  private findOrganization(): Promise<Row | undefined> {
    return this.database.row<Row>(sql`SELECT * FROM organizations WHERE name = 'Default'`);
  }

  private async machineType(): Promise<number> {
    const row = await this.database.row<Row>(sql`
      SELECT id FROM ${ident('credential_types')} WHERE namespace = 'ssh'`);
    return row!.id;
  }

  private async administrator(): Promise<Actor> {
    const row = await this.database.row<{ id: number; username: string }>(
      sql`SELECT id, username FROM users WHERE is_superuser ORDER BY id LIMIT 1`,
    );
    if (!row) throw new Error('Demo data needs an administrator: run ensure-admin first.');
    return { ...row, isSuperuser: true, isSystemAuditor: false };
  }
}
