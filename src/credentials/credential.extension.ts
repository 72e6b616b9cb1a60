import { Injectable } from '@nestjs/common';
import { RolesRepository, type DirectHolder } from '../access/roles.repository.js';
import { entryOf } from '../common/invariants.js';
import * as json from '../common/fields/json-schema.js';
import { extendEach, resource, type Row, type RowOf } from '../common/resource/define-resource.js';
import type { Extension, RepresentContext, ShownMembers } from '../common/resource/extension.js';
import { referencedSummaries } from '../common/resource/related-rows.js';
import { sql } from '../database/sql.js';
import { inputSourcesOf, type InputSource } from './credential-input-sources.repository.js';
import { visibleCredentials } from './credentials.repository.js';
import { CredentialTypesRepository } from './credential-types.repository.js';
import { maskInputs } from './types/inputs.js';
import type { Credential } from './credential.entity.js';

type Owner = { id: number; type: string; name: string; description: string; url: string };

export const CREDENTIAL_SHOWS: ShownMembers = {
  related: ['user'],
  summary_fields: {
    owners: json.list(
      json.object({
        id: json.INTEGER,
        type: json.STRING,
        name: json.STRING,
        description: json.STRING,
        url: json.STRING,
      }),
    ),
    input_sources: {
      ...json.mapOf(
        json.object({ id: json.INTEGER, name: json.STRING, kind: json.STRING }, ['kind']),
      ),
      description: 'Inputs that are looked up, with the name of the store.',
    },
  },
  summary: {
    kind: json.described(json.STRING, 'Namespace of the type.'),
    cloud: json.described(json.BOOLEAN, 'The type is of the kind cloud.'),
    kubernetes: json.described(json.BOOLEAN, 'The type is of the kind kubernetes.'),
  },
};

/**
 * Adds masked inputs, data of the credential's type, and owners
 * (docs/contract/resources.md#credentials).
 */
@Injectable()
export class CredentialExtension {
  constructor(
    private readonly types: CredentialTypesRepository,
    private readonly roles: RolesRepository,
  ) {}

  async extend(
    rows: readonly RowOf<Credential>[],
    context: RepresentContext,
  ): Promise<Map<number, Extension>> {
    const ids = [...new Set(rows.map((row) => row.credential_type_id))];
    const found = await this.types.byIds(ids);
    const types = new Map(found.map((type) => [type.id, type]));
    const holders = await this.roles.directHolders(
      'credential',
      'admin_role',
      rows.map(({ id }) => id),
    );
    const owners = await ownersOf(rows, holders, context);
    const sources = await inputSources(rows, context);
    return extendEach(rows, (row) => {
      const type = entryOf(types, row.credential_type_id);
      const rowOwners = owners.get(row.id) ?? [];
      const [first] = rowOwners;
      const isPrivate =
        rowOwners.length === 1 && first?.type === 'user' && row.organization_id === null;
      const related: Record<string, string> = isPrivate ? { user: first.url } : {};
      return {
        fields: {
          inputs: maskInputs(type, row.inputs),
          kind: type.namespace ?? '',
          cloud: type.kind === 'cloud',
          kubernetes: type.kind === 'kubernetes',
        },
        related,
        summary_fields: { owners: rowOwners, input_sources: sources.get(row.id) ?? {} },
      };
    });
  }
}

interface ShownSource extends Pick<InputSource, 'id' | 'target_id' | 'field'> {
  name: string;
  kind: string;
  may_read: boolean;
}

/** Returns the looked-up inputs of each credential, with their stores. */
async function inputSources(
  rows: readonly RowOf<Credential>[],
  { batch, actor }: RepresentContext,
): Promise<Map<number, Record<string, object>>> {
  const found = await batch.rows<ShownSource & Row>(sql`
    SELECT input.id, input.target_id, input.field, store.name, store.may_read,
      store.credential_type ->> 'namespace' AS kind
    FROM (${inputSourcesOf(rows.map(({ id }) => id))}) input
    JOIN (${visibleCredentials(actor)}) store ON store.id = input.source_id
    ORDER BY input.target_id, input.field`);
  const sources = new Map<number, Record<string, object>>();
  for (const { id, target_id: target, field, name, kind, may_read: isSeen } of found) {
    const shown = { id, name, ...(isSeen ? { kind } : {}) };
    sources.set(target, { ...sources.get(target), [field]: shown });
  }
  return sources;
}

/**
 * Returns the owners that the caller can read: users and teams that hold the admin role directly, then
 * the organization.
 */
async function ownersOf(
  rows: readonly RowOf<Credential>[],
  holders: readonly DirectHolder[],
  context: RepresentContext,
): Promise<Map<number, Owner[]>> {
  const users = await ownersById('user', idsOf(holders, 'user'), context);
  const teams = await ownersById('team', idsOf(holders, 'team'), context);
  const organizations = await ownersById(
    'organization',
    rows.flatMap(({ organization_id: id }) => (typeof id === 'number' ? [id] : [])),
    context,
  );
  const owners = new Map<number, Owner[]>(rows.map(({ id }) => [id, []]));
  const add = (credential: number, owner: Owner | undefined): void => {
    if (owner) owners.get(credential)?.push(owner);
  };
  for (const { object_id: credential, type, holder_id: holder } of holders) {
    add(credential, (type === 'user' ? users : teams).get(holder));
  }
  for (const row of rows) add(row.id, organizations.get(row.organization_id ?? 0));
  return owners;
}

const idsOf = (holders: readonly DirectHolder[], type: string): number[] =>
  holders.filter((holder) => holder.type === type).map(({ holder_id: id }) => id);

async function ownersById(
  type: string,
  ids: readonly number[],
  context: RepresentContext,
): Promise<Map<number, Owner>> {
  const definition = resource(type);
  const summaries = await referencedSummaries(definition, [...new Set(ids)], context);
  return new Map(
    [...summaries].map(([id, row]) => [id, { id, type, ...namesOf(row), url: definition.url(id) }]),
  );
}

function namesOf(summary: Readonly<Record<string, unknown>>): Pick<Owner, 'name' | 'description'> {
  const text = (name: string): string => String(summary[name] ?? '');
  return summary.username === undefined
    ? { name: text('name'), description: text('description') }
    : { name: text('username'), description: `${text('first_name')} ${text('last_name')}`.trim() };
}
