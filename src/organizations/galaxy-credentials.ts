import { BadRequest } from '../common/errors/errors.js';
import { existing } from '../common/invariants.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import type { LinkContext, SubListSpec } from '../common/rest/sublist.js';
import { attached } from '../common/rest/sublist-kinds.js';
import { sql } from '../database/sql.js';

/** `galaxy_credentials/` of an organization: servers of collections, in the order they are asked. */
export const attachGalaxyCredentials = (): ((
  definition: ResourceDefinition,
  name: string,
) => SubListSpec) => attached('galaxy_credentials', { childNeeds: 'use', check: assertGalaxy });

async function assertGalaxy({ services }: LinkContext, credential: Row): Promise<void> {
  const type = existing(
    await services.database.row<{ name: string; kind: string }>(sql`
    SELECT name, kind FROM credential_types WHERE id = ${credential.credential_type_id}`),
    'a reference leads to a row',
  );
  if (type.kind !== 'galaxy') {
    throw new BadRequest(`Credential must be a Galaxy credential, not ${type.name}.`);
  }
}
