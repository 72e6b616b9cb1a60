import { Injectable } from '@nestjs/common';
import { usersGranted } from '../access/role-members.repository.js';
import { teamsGranted } from '../access/role-teams.repository.js';
import { rolesOf } from '../access/roles.repository.js';
import { TeamStore } from '../access/team-store.js';
import { permit, type Actor } from '../common/access.js';
import { BOOLEAN, INTEGER, object, STRING } from '../common/fields/json-schema.js';
import type { RowOf } from '../common/resource/define-resource.js';
import { resource } from '../common/resource/registry.js';
import { heldBy } from '../common/resource/held-by.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { Database } from '../database/database.js';
import { ident, NO_IDS, sql, type Sql } from '../database/sql.js';
import { TableRepository } from '../database/table-repository.js';
import { usersOutside } from '../users/users.repository.js';
import { markedInputs } from './credential-input-sources.repository.js';
import { credentialTypes } from './credential-types.repository.js';
import type { CredentialInputs, CredentialTypeDefinition } from './types/definition.js';
import type { CredentialSchema } from './credential.schema.js';

/** What is kept of the inputs of a credential, and which are looked up. */
const inputsOf = (alias: string): Sql =>
  markedInputs(sql`${ident(alias, 'inputs')}`, sql`${ident(alias, 'id')}`);

/** A credential with its type and its secrets as they are stored; inputs that are looked up are marked. */
export interface SealedCredential {
  id: number;
  name: string;
  inputs: CredentialInputs;
  type: CredentialTypeDefinition;
}

/** A credential with its type, and whether somebody may read it. */
export interface SeenCredential {
  id: number;
  name: string;
  description: string;
  /** As they are stored. */
  inputs: CredentialInputs;
  credential_type: CredentialTypeDefinition;
  may_read: boolean;
}

/** Schema of a credential beside what uses it; callers who may not read it see id and name. */
export const CREDENTIAL_SUMMARY = object(
  { id: INTEGER, name: STRING, description: STRING, kind: STRING, cloud: BOOLEAN },
  ['description', 'kind', 'cloud'],
);

/** Query for all credentials as `SeenCredential`s, to be joined. */
export const credentialsSeenBy = (actor: Actor): Sql => sql`
  SELECT cred.id, cred.name, cred.description, ${inputsOf('cred')} AS inputs, to_json(typ) AS credential_type,
    (${permit(resource('credential').policy, 'read', 'cred', actor)}) AS may_read
  FROM credentials cred JOIN credential_types typ ON typ.id = cred.credential_type_id`;

/** A credential that a launch names; its inputs are sealed. */
export interface UsableCredential {
  id: number;
  name: string;
  inputs: CredentialInputs;
  credential_type_id: number;
  credential_type: CredentialTypeDefinition;
  may_use: boolean;
}

/** Query for credentials as other tables' statements join them; inputs are sealed. */
export const allCredentials = (): Sql => sql`
  SELECT id, name, description, inputs, credential_type_id, organization_id FROM credentials`;

@Injectable()
export class CredentialsRepository extends TableRepository<RowOf<CredentialSchema>> {
  constructor(
    database: Database,
    private readonly teams: TeamStore,
  ) {
    super(database, 'credentials');
  }

  /** In one statement; ids without a credential are left out. */
  sealed(ids: readonly number[]): Promise<SealedCredential[]> {
    return this.database.rows<SealedCredential>(sql`
      SELECT cred.id, cred.name, ${inputsOf('cred')} AS inputs,
        json_build_object('name', typ.name, 'kind', typ.kind, 'namespace', typ.namespace,
          'managed', typ.managed, 'inputs', typ.inputs, 'injectors', typ.injectors) AS type
      FROM credentials cred JOIN (${credentialTypes()}) typ ON typ.id = cred.credential_type_id
      WHERE cred.id = ANY(${ids}::int[])`);
  }

  /** What a credential is for; undefined when there is none of this id. */
  typeOf(id: number): Promise<Pick<CredentialTypeDefinition, 'kind' | 'namespace'> | undefined> {
    return this.database.row(sql`
      SELECT typ.kind, typ.namespace FROM credentials cred
      JOIN (${credentialTypes()}) typ ON typ.id = cred.credential_type_id WHERE cred.id = ${id}`);
  }

  /**
   * Credentials as launches need them.
   *
   * @param actor null: everything may be used
   * @param further query for the ids of others
   */
  usable(
    ids: readonly number[],
    actor: Actor | null,
    further = NO_IDS,
  ): Promise<UsableCredential[]> {
    return this.database.preparedRows<UsableCredential>(sql`
      SELECT c.id, c.name, ${inputsOf('c')} AS inputs, c.credential_type_id, to_json(ct) AS credential_type,
        (${permitOrAny('credential', 'use', 'c', actor)}) AS may_use
      FROM credentials c JOIN (${credentialTypes()}) ct ON ct.id = c.credential_type_id
      WHERE c.id = ANY(${ids}::int[] || ARRAY(${further}))`);
  }

  byName(
    name: string,
    type: number,
    organization: number,
  ): Promise<RowOf<CredentialSchema> | undefined> {
    return this.database.row<RowOf<CredentialSchema>>(sql`
      SELECT * FROM credentials WHERE name = ${name} AND credential_type_id = ${type}
        AND organization_id = ${organization}`);
  }

  /** Names the credentials of a type, for people; null when there are none. */
  async namesOfType(type: number): Promise<string | null> {
    const holders = await heldBy(
      this.database,
      sql`SELECT id, 'credential' AS type FROM credentials WHERE credential_type_id = ${type}`,
    );
    return holders?.names ?? null;
  }

  /**
   * Whether somebody outside of an organization was given a role on a credential: a team of another,
   * or a user who holds nothing in it. Of no organization are users of all, and no team.
   */
  async isSharedOutside(id: number, organization: number | null): Promise<boolean> {
    const roles = rolesOf('credential', [id]);
    const teams = this.teams.outside(teamsGranted(roles), organization);
    const users =
      organization === null
        ? sql``
        : sql`UNION ALL ${usersOutside(usersGranted(roles), organization)}`;
    const found = await this.database.row(sql`${teams} ${users} LIMIT 1`);
    return found !== undefined;
  }
}
