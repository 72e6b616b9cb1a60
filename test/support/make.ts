/**
 * Creates rows through the product's own services, so that roles, closure, counters and activity are
 * as they are after a request of a superuser. Names are unique unless given; every factory
 * takes the fields of the API (ids for references) and returns the database row:
 *
 *   const project = await make.project({ organization: home.organization.id });
 *   const template = await make.jobTemplate({ project: project.id, ask_limit_on_launch: true });
 *   await make.grant('job_template', template, 'execute_role', { team: home.team });
 *   const hosts = await make.hosts(inventory, 1000);
 *   const anything = await make.row('workflow_job_template', { name: 'Deploy' });
 *
 * Users have no password unless `password` is given.
 */
import type { INestApplicationContext } from '@nestjs/common';

import { GrantsService } from '../../src/access/grants.service.js';
import type { RoleRow } from '../../src/access/roles.repository.js';
import type { Actor } from '../../src/common/access.js';
import { issueToken } from '../../src/common/crypto/tokens.js';
import { resource, type Row } from '../../src/common/resource/define-resource.js';
import { ResourceService } from '../../src/common/rest/resource.service.js';
import { Database } from '../../src/database/database.js';
import { sql } from '../../src/database/sql.js';

type Fields = Record<string, unknown>;
type Holder = { user: Row } | { team: Row };

/** Author before any user exists, as on the command line. */
const SYSTEM: Actor = { id: 0, username: '', isSuperuser: true, isSystemAuditor: false };

let counter = 0;
const unique = (prefix: string): string => `${prefix} ${process.pid}-${(counter += 1)}`;

export class Factories {
  private readonly database: Database;
  private readonly resources: ResourceService;
  private readonly grants: GrantsService;
  private actor: Actor = SYSTEM;

  constructor(app: INestApplicationContext) {
    this.database = app.get(Database);
    this.resources = app.get(ResourceService, { strict: false });
    this.grants = app.get(GrantsService, { strict: false });
  }

  /** Sets the author of the following rows, which must be a superuser. */
  actAs(user: Row): void {
    this.actor = { ...SYSTEM, id: user.id, username: String(user.username) };
  }

  /** Creates a row of any resource type from fields of the API. */
  row(type: string, fields: Fields): Promise<Row> {
    return this.resources.create(resource(type), fields, this.actor);
  }

  organization(fields: Fields = {}): Promise<Row> {
    return this.row('organization', { name: unique('Organization'), ...fields });
  }

  user(fields: Fields = {}): Promise<Row> {
    const username = unique('user').replace(' ', '-');
    return this.row('user', { username, password: '', ...fields });
  }

  async team(fields: Fields = {}): Promise<Row> {
    return this.row('team', { name: unique('Team'), ...(await this.owned(fields)) });
  }

  async inventory(fields: Fields = {}): Promise<Row> {
    return this.row('inventory', { name: unique('Inventory'), ...(await this.owned(fields)) });
  }

  host(inventory: Row, fields: Fields = {}): Promise<Row> {
    const name = unique('host').replace(' ', '-');
    return this.row('host', { name, inventory: inventory.id, ...fields });
  }

  group(inventory: Row, fields: Fields = {}): Promise<Row> {
    return this.row('group', { name: unique('group'), inventory: inventory.id, ...fields });
  }

  /** Creates many hosts in one statement, without activity, and returns their ids in order of their names. */
  async hosts(inventory: Row, count: number, prefix = unique('many')): Promise<number[]> {
    const hosts = await this.database.rows<{ id: number }>(sql`
      INSERT INTO hosts (name, inventory_id)
      SELECT ${prefix} || '-' || lpad(number::text, 7, '0'), ${inventory.id}
      FROM generate_series(1, ${count}::int) AS number
      RETURNING id`);
    return hosts.map(({ id }) => id);
  }

  /** Creates a credential, by default of the shipped type with the `namespace`. */
  async credential({ namespace = 'ssh', ...fields }: Fields = {}): Promise<Row> {
    const type = await this.database.row<Row>(
      sql`SELECT id FROM credential_types WHERE namespace = ${namespace}`,
    );
    const owned = 'user' in fields || 'team' in fields ? fields : await this.owned(fields);
    return this.row('credential', {
      name: unique('Credential'),
      credential_type: type?.id,
      inputs: {},
      ...owned,
    });
  }

  /** Creates a manual project, which has no source control. */
  async project(fields: Fields = {}): Promise<Row> {
    const name = unique('Project');
    const local_path = name.toLowerCase().replace(' ', '_');
    return this.row('project', { name, local_path, ...(await this.owned(fields)) });
  }

  async jobTemplate(fields: Fields = {}): Promise<Row> {
    const project = fields.project ?? (await this.project()).id;
    const inventory = fields.inventory ?? (await this.inventory()).id;
    return this.row('job_template', {
      name: unique('Job Template'),
      playbook: 'site.yml',
      ...fields,
      project,
      inventory,
    });
  }

  async workflowTemplate(fields: Fields = {}): Promise<Row> {
    const name = unique('Workflow');
    return this.row('workflow_job_template', { name, ...(await this.owned(fields)) });
  }

  /** Creates a node of a workflow. `fields` are fields of the API. */
  workflowNode(workflow: Row, fields: Fields = {}): Promise<Row> {
    return this.row('workflow_job_template_node', {
      workflow_job_template: workflow.id,
      ...fields,
    });
  }

  async notificationTemplate(fields: Fields = {}): Promise<Row> {
    return this.row('notification_template', {
      name: unique('Notification Template'),
      notification_type: 'webhook',
      notification_configuration: {
        url: 'http://127.0.0.1:9/hook',
        http_method: 'POST',
        headers: {},
        disable_ssl_verification: false,
      },
      ...(await this.owned(fields)),
    });
  }

  /** Returns the role row of an object: `make.role('team', team, 'member_role')`. */
  async role(type: string, object: Row, field: string): Promise<RoleRow> {
    const role = await this.database.row<RoleRow>(sql`
      SELECT * FROM roles
      WHERE content_type = ${type} AND object_id = ${object.id} AND role_field = ${field}`);
    if (!role) throw new Error(`No ${field} on ${type} ${object.id}`);
    return role;
  }

  async grant(type: string, object: Row, field: string, holder: Holder): Promise<void> {
    const role = await this.role(type, object, field);
    await this.database.transaction(() =>
      'user' in holder
        ? this.grants.grantToUser(role, holder.user, this.actor)
        : this.grants.grantToTeam(role, holder.team, this.actor),
    );
  }

  async revoke(type: string, object: Row, field: string, holder: Holder): Promise<void> {
    const role = await this.role(type, object, field);
    await this.database.transaction(() =>
      'user' in holder
        ? this.grants.revokeFromUser(role, holder.user, this.actor)
        : this.grants.revokeFromTeam(role, holder.team, this.actor),
    );
  }

  /** Creates a token of the user and returns the token in plain text. `expiresInSeconds` may be negative. */
  async token(
    user: Row,
    {
      scope = 'write',
      expiresInSeconds = 3600,
    }: { scope?: string; expiresInSeconds?: number } = {},
  ): Promise<string> {
    const { token, digest } = issueToken();
    await this.database.execute(sql`
      INSERT INTO tokens (description, scope, user_id, digest, expires)
      VALUES ('made by a test', ${scope}, ${user.id}, ${digest},
        now() + make_interval(secs => ${expiresInSeconds}))`);
    return token;
  }

  /** Creates a token for each of the users in one statement and returns the tokens in plain text. */
  async tokens(users: readonly Row[]): Promise<string[]> {
    const issued = users.map(() => issueToken());
    await this.database.execute(sql`
      INSERT INTO tokens (description, scope, user_id, digest, expires)
      SELECT 'made by a test', 'write', user_id, digest, now() + interval '1 hour'
      FROM unnest(${users.map(({ id }) => id)}::int[], ${issued.map(({ digest }) => digest)}::text[])
        WITH ORDINALITY AS issued (user_id, digest, number)
      ORDER BY number`);
    return issued.map(({ token }) => token);
  }

  /** Adds a new organization to fields without one. */
  private async owned(fields: Fields): Promise<Fields> {
    if ('organization' in fields) return fields;
    return { ...fields, organization: (await this.organization()).id };
  }
}
