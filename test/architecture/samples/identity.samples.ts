import { sql } from '../../../src/database/sql.js';
import * as authenticators from '../../../src/identity/authenticators.repository.js';
import * as identities from '../../../src/identity/external-identities.repository.js';
import { SamlResponsesRepository } from '../../../src/identity/saml-responses.repository.js';
import { fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(authenticators.AuthenticatorsRepository, {
      enabled: [[]],
      directories: [[]],
      claimDue: [[]],
      enabledBySlug: [['keycloak']],
      lockEnabled: [[]],
      lockFirstLogins: [[1]],
    }),
    samplesOf(SamlResponsesRepository, { take: [['_a', 60]] }),
    samplesOf(identities.ExternalIdentitiesRepository, {
      locked: [[1, 'subject']],
      account: [[1, 1]],
      directoryAccounts: [[1]],
      keepFlag: [[1, 'is_superuser']],
      authenticatorsOf: [[1]],
    }),
  ],
  fragments: [
    fragmentsOf(identities, { identifiedUsers: [[sql`1`]] }),
    fragmentsOf(authenticators, { enabledAuthenticator: [[1]] }),
  ],
} satisfies FeatureSamples;
