import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../common/access.js';
import { resource, type Row } from '../common/resource/define-resource.js';
import { ResourceService } from '../common/rest/resource.service.js';
import { Settings } from '../config/settings.js';
import { CredentialTypesRepository } from '../credentials/credential-types.repository.js';
import { CredentialsRepository } from '../credentials/credentials.repository.js';
import { Database } from '../database/database.js';
import { JobTemplateCredentialsRepository } from '../job-templates/job-template-credentials.repository.js';
import { OrganizationsRepository } from '../organizations/organizations.repository.js';
import { InstallationRepository } from '../settings/installation.repository.js';
import { UsersRepository } from '../users/users.repository.js';

const DEMO_PLAYBOOK = 'hello_world.yml';
const DEMO_FOLDER = 'demo_project';

const HELLO_WORLD = `---
- name: Hello World Sample
  hosts: all
  gather_facts: false
  tasks:
    - name: Hello Message
      ansible.builtin.debug:
        msg: "Hello World!"

    - name: Show who launched the job
      ansible.builtin.debug:
        msg: "Launched by {{ awx_user_name | default('a ' ~ (awx_job_launch_type | default('manual')) ~ ' run') }}"
`;

/** Writes the demo's manual project into the projects folder. */
async function writeDemoProject(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, 'projects', DEMO_FOLDER);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, DEMO_PLAYBOOK), HELLO_WORLD);
}

const HOST_VARIABLES = [
  'ansible_connection: local',
  'ansible_python_interpreter: "{{ ansible_playbook_python }}"',
].join('\n');

const DEMO_ORGANIZATION = 'Default';
const GALAXY_NAME = 'Ansible Galaxy';
const GALAXY_URL = 'https://galaxy.ansible.com/';

/** Creates the demo objects of a new installation, so that a first job can be launched immediately. */
@Injectable()
export class DemoData {
  constructor(
    private readonly resources: ResourceService,
    private readonly database: Database,
    private readonly installation: InstallationRepository,
    private readonly organizations: OrganizationsRepository,
    private readonly credentials: CredentialsRepository,
    private readonly credentialTypes: CredentialTypesRepository,
    private readonly users: UsersRepository,
    private readonly templateCredentials: JobTemplateCredentialsRepository,
    private readonly settings: Settings,
  ) {}

  /** Creates the objects once per installation. Deleted objects are not created again. */
  async createOnce(): Promise<boolean> {
    await writeDemoProject(this.settings.DATA_DIR);
    return this.database.transaction(async () => {
      const objects = await this.runOnce('demo_data', (actor) => this.createObjects(actor));
      const credential = await this.runOnce('demo_galaxy_credential', (actor) =>
        this.createGalaxyCredential(actor),
      );
      return objects || credential;
    });
  }

  /** Creates a set of objects unless this installation already created it: each set has a name. */
  private async runOnce(name: string, create: (actor: Actor) => Promise<void>): Promise<boolean> {
    const isFirst = await this.installation.recordOnce(name);
    if (isFirst) await create(await this.administrator());
    return isFirst;
  }

  private async createObjects(actor: Actor): Promise<void> {
    const organization =
      (await this.organizations.byName(DEMO_ORGANIZATION)) ??
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
    await this.templateCredentials.attach(template.id, credential.id);
  }

  /**
   * Creates the credential of the public Galaxy server, for the organization in which clients look for
   * it. An existing credential of the same name is attached unchanged.
   */
  private async createGalaxyCredential(actor: Actor): Promise<void> {
    const organization = await this.organizations.byName(DEMO_ORGANIZATION);
    if (!organization) return;
    const type = await this.credentialType('galaxy_api_token');
    const credential =
      (await this.credentials.byName(GALAXY_NAME, type, organization.id)) ??
      (await this.create(actor, 'credential', {
        name: GALAXY_NAME,
        organization: organization.id,
        credential_type: type,
        inputs: { url: GALAXY_URL },
      }));
    await this.organizations.attachGalaxyCredential(organization.id, credential.id);
  }

  private create(actor: Actor, type: string, body: Record<string, unknown>): Promise<Row> {
    return this.resources.create(resource(type), body, actor);
  }

  private async credentialType(namespace: string): Promise<number> {
    const id = await this.credentialTypes.managedId(namespace);
    if (id === null) throw new Error(`No credential type ${namespace}: run migrate first.`);
    return id;
  }

  private async administrator(): Promise<Actor> {
    const row = await this.users.firstSuperuser();
    if (!row) throw new Error('Demo data needs an administrator: run ensure-admin first.');
    return { ...row, isSuperuser: true, isSystemAuditor: false };
  }
}
