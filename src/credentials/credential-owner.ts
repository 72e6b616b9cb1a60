import { Injectable } from '@nestjs/common';
import { GrantsService, type RoleRow } from '../access/grants.service.js';
import type { Actor } from '../common/access.js';
import { ActivityRecorder, refOf } from '../common/activity/activity.js';
import { BadRequest, Forbidden, Invalid } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import type { Row, RowOf } from '../common/resource/define-resource.js';
import type { ValuesOf } from '../common/rest/hooks.js';
import { References } from '../common/rest/references.js';
import { resource } from '../common/resource/registry.js';
import { Database } from '../database/database.js';
import { sql } from '../database/sql.js';
import type { CredentialSchema } from './credential.schema.js';

const OWNERS = ['organization', 'team', 'user'] as const;

/**
 * Who a credential belongs to: one user, one team, or an organization
 * (docs/contract/resources.md#credentials).
 */
@Injectable()
export class CredentialOwner {
  constructor(
    private readonly database: Database,
    private readonly grants: GrantsService,
    private readonly references: References,
    private readonly activity: ActivityRecorder,
  ) {}

  /**
   * The organization of a new credential: the named one, that of the owning team, or none.
   *
   * @throws BadRequest unless exactly one owner is named
   */
  async organizationOf(values: ValuesOf<CredentialSchema>): Promise<number | null> {
    const named = OWNERS.filter((name) => typeof values[name] === 'number');
    if (named.length === 0) throw new BadRequest("Missing 'user', 'team', or 'organization'.");
    if (named.length > 1) {
      throw new BadRequest(
        `Only one of 'user', 'team', or 'organization' should be provided, received ${named.join(', ')} fields.`,
      );
    }
    if (named[0] !== 'team') return values.organization ?? null;
    const team = await this.database.row<{ organization_id: number }>(sql`
      SELECT organization_id FROM teams WHERE id = ${values.team}`);
    return existing(team, 'a reference leads to a row').organization_id;
  }

  /** Gives a new credential's admin role to its owning user or team. */
  async grant(
    credential: RowOf<CredentialSchema>,
    values: ValuesOf<CredentialSchema>,
    actor: Actor,
  ): Promise<void> {
    if (typeof values.user !== 'number' && typeof values.team !== 'number') return;
    const role = existing(
      await this.database.row<RoleRow>(sql`
        SELECT * FROM roles WHERE content_type = 'credential' AND object_id = ${credential.id}
          AND role_field = 'admin_role'`),
      'a credential has an admin role',
    );
    if (typeof values.team === 'number') {
      const team = await this.database.row<Row>(sql`SELECT * FROM teams WHERE id = ${values.team}`);
      await this.grants.grantToTeam(role, existing(team, 'a reference leads to a row'), actor);
      return;
    }
    if (typeof values.user === 'number') await this.grantToUser(credential, role, values.user);
  }

  /** Not by `GrantsService`: it keeps private credentials from being handed on, and this one is new. */
  private async grantToUser(
    credential: RowOf<CredentialSchema>,
    role: RoleRow,
    userId: number,
  ): Promise<void> {
    const added = await this.database.execute(sql`
      INSERT INTO role_members (role_id, user_id) VALUES (${role.id}, ${userId})
      ON CONFLICT DO NOTHING`);
    if (added === 0) return;
    const user = await this.database.row<Row>(sql`SELECT * FROM users WHERE id = ${userId}`);
    const holder = refOf(resource('user'), existing(user, 'a reference leads to a row'));
    this.activity.record({
      operation: 'associate',
      object1: holder,
      object2: refOf(resource('credential'), credential),
      association: 'role',
      objectType: 'credential',
      changes: {
        object1: holder.type,
        object1_pk: holder.id,
        object2: 'credential',
        object2_pk: credential.id,
        action: 'associate',
        relationship: 'credential.admin_role',
      },
    });
  }

  /**
   * Checks a move to another organization, or out of any. Whoever takes it away needs the right the
   * organization gives, and nobody outside of the new one may keep a role.
   *
   * @throws Forbidden, or Invalid naming the organization
   */
  async assertMovable(
    row: RowOf<CredentialSchema>,
    organization: number | null,
    actor: Actor,
  ): Promise<void> {
    if (organization === null && typeof row.organization_id === 'number') {
      const present = [row.organization_id];
      await this.references.assertAllowed(
        resource('organization'),
        present,
        'credential_admin',
        actor,
      );
    }
    const outside = await this.database.row(sql`
      SELECT 1 FROM roles r JOIN role_teams rt ON rt.role_id = r.id JOIN teams t ON t.id = rt.team_id
      WHERE r.content_type = 'credential' AND r.object_id = ${row.id}
        AND t.organization_id IS DISTINCT FROM ${organization}::int
      UNION ALL
      SELECT 1 FROM roles r JOIN role_members mem ON mem.role_id = r.id
        JOIN users u ON u.id = mem.user_id
      WHERE r.content_type = 'credential' AND r.object_id = ${row.id}
        AND ${organization}::int IS NOT NULL AND NOT u.is_superuser
        AND NOT EXISTS (
          SELECT 1 FROM role_members own JOIN role_ancestors anc ON anc.ancestor_id = own.role_id
          WHERE own.user_id = u.id AND anc.content_type = 'organization'
            AND anc.role_field = 'read_role' AND anc.object_id = ${organization}::int)
      LIMIT 1`);
    if (outside) {
      throw Invalid.field(
        'organization',
        'The credential is shared with users or teams outside of that organization.',
      );
    }
  }

  /** @throws Forbidden for credentials the product itself keeps */
  assertNotManaged(row: RowOf<CredentialSchema>): void {
    if (row.managed === true) {
      throw new Forbidden('Modifications not allowed for managed credentials');
    }
  }
}
