import { BadRequest } from '../common/errors/errors.js';
import type { Row } from '../common/resource/define-resource.js';
import type { LinkContext, SubListFactory } from '../common/rest/sublist.js';
import { attached } from '../common/rest/sublist-kinds.js';
import { CredentialTypesRepository } from '../credentials/credential-types.repository.js';

/** Declares `galaxy_credentials/` of an organization: the collection servers, in order of precedence. */
export const attachGalaxyCredentials = (): SubListFactory =>
  attached('galaxy_credentials', {
    rules: CredentialTypesRepository,
    childNeeds: 'use',
    check: assertGalaxy,
  });

async function assertGalaxy(
  { rules: types }: LinkContext<Row, CredentialTypesRepository>,
  credential: Row,
): Promise<void> {
  const type = await types.referenced(credential.credential_type_id);
  if (type.kind !== 'galaxy') {
    throw new BadRequest(`Credential must be a Galaxy credential, not ${type.name}.`);
  }
}
