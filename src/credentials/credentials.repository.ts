import { Injectable } from '@nestjs/common';
import { usersGranted } from '../access/role-members.repository.js';
import { teamsGranted } from '../access/role-teams.repository.js';
import { rolesOf } from '../access/roles.repository.js';
import { TeamStore } from '../access/team-store.js';
import { permit, type Actor } from '../common/access.js';
import * as json from '../common/fields/json-schema.js';
import { resource, type RowOf } from '../common/resource/define-resource.js';
import { usesOf } from '../common/resource/declared-references.js';
import { dependentsOf } from '../common/resource/dependents.js';
import { permitOrAny } from '../common/resource/permit-or-any.js';
import { ident, NO_IDS, sql, type Sql } from '../database/sql.js';
import { TableRepository, InjectRepository, type Repository } from '../database/repository.js';
import { usersOutside } from '../users/users.repository.js';
import { markedInputs } from './credential-input-sources.repository.js';
import { selectCredentialTypes } from './credential-types.repository.js';
import type { CredentialInputs, CredentialTypeDefinition } from './types/definition.js';
import { Credential } from './credential.entity.js';

/** Returns the stored inputs of a credential, with a placeholder for looked-up inputs. */
const inputsOf = (alias: string): Sql =>
  markedInputs(sql`${ident(alias, 'inputs')}`, sql`${ident(alias, 'id')}`);

/** Credential with its type and its sealed secrets. Looked-up inputs have a placeholder. */
export interface SealedCredential {
  id: number;
  name: string;
  inputs: CredentialInputs;
  type: CredentialTypeDefinition;
}

/** Credential with its type, and the caller's permission to read it. */
export interface VisibleCredential {
  id: number;
  name: string;
  description: string;
  /** Inputs as stored. */
  inputs: CredentialInputs;
  credential_type: CredentialTypeDefinition;
  may_read: boolean;
}

/**
 * Schema of a credential in other objects. Callers who cannot read the credential see its id and name.
 */
export const CREDENTIAL_SUMMARY = json.object(
  {
    id: json.INTEGER,
    name: json.STRING,
    description: json.STRING,
    kind: json.STRING,
    cloud: json.BOOLEAN,
  },
  ['description', 'kind', 'cloud'],
);

/** Returns the query for all credentials as `VisibleCredential`s, for joins. */
export const visibleCredentials = (actor: Actor): Sql => sql`
  SELECT cred.id, cred.name, cred.description, ${inputsOf('cred')} AS inputs, to_json(typ) AS credential_type,
    (${permit(resource('credential').policy, 'read', 'cred', actor)}) AS may_read
  FROM credentials cred JOIN credential_types typ ON typ.id = cred.credential_type_id`;

/** Credential of a launch, with sealed inputs. */
export interface UsableCredential {
  id: number;
  name: string;
  inputs: CredentialInputs;
  credential_type_id: number;
  credential_type: CredentialTypeDefinition;
  may_use: boolean;
}

/** Returns the query for credentials with sealed inputs, for joins in statements of other tables. */
export const allCredentials = (): Sql => sql`
  SELECT id, name, description, inputs, credential_type_id, organization_id FROM credentials`;

@Injectable()
export class CredentialsRepository extends TableRepository<RowOf<Credential>> {
  constructor(
    @InjectRepository(Credential) repository: Repository<Credential>,
    private readonly teams: TeamStore,
  ) {
    super(repository);
  }

  /** Reads credentials with one statement. Ids without a credential are omitted. */
  sealed(ids: readonly number[]): Promise<SealedCredential[]> {
    return this.database.rows<SealedCredential>(sql`
      SELECT cred.id, cred.name, ${inputsOf('cred')} AS inputs,
        json_build_object('name', typ.name, 'kind', typ.kind, 'namespace', typ.namespace,
          'managed', typ.managed, 'inputs', typ.inputs, 'injectors', typ.injectors) AS type
      FROM credentials cred JOIN (${selectCredentialTypes()}) typ ON typ.id = cred.credential_type_id
      WHERE cred.id = ANY(${ids}::int[]) ORDER BY cred.id`);
  }

  /** Returns the type of a credential, or undefined if there is no credential of this id. */
  typeOf(id: number): Promise<Pick<CredentialTypeDefinition, 'kind' | 'namespace'> | undefined> {
    return this.database.row(sql`
      SELECT typ.kind, typ.namespace FROM credentials cred
      JOIN (${selectCredentialTypes()}) typ ON typ.id = cred.credential_type_id WHERE cred.id = ${id}`);
  }

  /**
   * Returns the credentials of launches.
   *
   * @param actor null: all credentials are permitted
   * @param further query for additional ids
   */
  usable(
    ids: readonly number[],
    actor: Actor | null,
    further = NO_IDS,
  ): Promise<UsableCredential[]> {
    return this.database.preparedRows<UsableCredential>(sql`
      SELECT c.id, c.name, ${inputsOf('c')} AS inputs, c.credential_type_id, to_json(ct) AS credential_type,
        (${permitOrAny('credential', 'use', 'c', actor)}) AS may_use
      FROM credentials c JOIN (${selectCredentialTypes()}) ct ON ct.id = c.credential_type_id
      WHERE c.id = ANY(${ids}::int[] || ARRAY(${further}))`);
  }

  byName(name: string, type: number, organization: number): Promise<RowOf<Credential> | undefined> {
    return this.database.row<RowOf<Credential>>(sql`
      SELECT * FROM credentials WHERE name = ${name} AND credential_type_id = ${type}
        AND organization_id = ${organization}`);
  }

  /** Returns true if any object refers to a credential, or is attached to it. */
  async isUsed(id: number): Promise<boolean> {
    return this.database.exists(sql`${usesOf(resource('credential'), id)} LIMIT 1`);
  }

  /** Returns the credentials of a type as display text, or null if there are none. */
  async namesOfType(type: number): Promise<string | null> {
    const dependents = await dependentsOf(
      this.database,
      sql`SELECT id, 'credential' AS type FROM credentials WHERE credential_type_id = ${type}`,
    );
    return dependents?.names ?? null;
  }

  /**
   * Returns true if a user or team outside an organization was granted a role on a credential: a team of
   * another organization, or a user without a role in the organization. Without an organization, every team
   * counts as outside and no user does.
   */
  async isSharedOutside(id: number, organization: number | null): Promise<boolean> {
    const roles = rolesOf('credential', [id]);
    const teams = this.teams.outsideOrganization(teamsGranted(roles), organization);
    const users =
      organization === null
        ? sql``
        : sql`UNION ALL ${usersOutside(usersGranted(roles), organization)}`;
    return this.database.exists(sql`${teams} ${users} LIMIT 1`);
  }
}
