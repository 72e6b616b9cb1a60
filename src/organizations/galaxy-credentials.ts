import { BadRequest } from '../common/errors/errors.js';
import type { ResourceDefinition, Row } from '../common/resource/define-resource.js';
import type { LinkContext, SubListSpec } from '../common/rest/sublist.js';
import { attached } from '../common/rest/sublist-kinds.js';
import { CredentialTypesRepository } from '../credentials/credential-types.repository.js';

/** Declares `galaxy_credentials/` of an organization: the collection servers, in order of precedence. */
export const attachGalaxyCredentials = (): ((
  definition: ResourceDefinition,
  name: string,
) => SubListSpec) => attached('galaxy_credentials', { childNeeds: 'use', check: assertGalaxy });

async function assertGalaxy({ services }: LinkContext, credential: Row): Promise<void> {
  const types = services.find(CredentialTypesRepository);
  const type = await types.referenced(credential.credential_type_id);
  if (type.kind !== 'galaxy') {
    throw new BadRequest(`Credential must be a Galaxy credential, not ${type.name}.`);
  }
}
