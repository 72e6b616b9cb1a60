import { CALLER } from './actors.js';
import { sql } from '../../../src/database/sql.js';
import * as organizations from '../../../src/organizations/organizations.repository.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(organizations.OrganizationsRepository, {
      byName: [['Default']],
      attachGalaxyCredential: [[1, 2]],
      galaxyCredentials: [[1]],
      notificationLinks: [[]],
      lockAllowance: [[sql`SELECT 1`]],
    }),
  ],
  fragments: [
    fragmentsOf(organizations, {
      organizationNameOf: [[sql`1`, CALLER]],
      organizationExists: [[sql`1`]],
      retentionOfOrganizations: { calls: [[]], inside: asQuery },
      defaultEnvironments: { calls: [[]], inside: asQuery },
      severalOrganizations: { calls: [[]], inside: (statement) => statement },
    }),
  ],
} satisfies FeatureSamples;
