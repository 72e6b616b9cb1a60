import { sql } from '../../../src/database/sql.js';
import * as types from '../../../src/credentials/credential-types.repository.js';
import * as sources from '../../../src/credentials/credential-input-sources.repository.js';
import * as credentials from '../../../src/credentials/credentials.repository.js';
import { CALLER } from './actors.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(types.CredentialTypesRepository, {
      all: [[]],
      referenced: [[1]],
      syncManaged: [[]],
      byIds: [[[1]]],
      managedId: [['ssh']],
    }),
    samplesOf(credentials.CredentialsRepository, {
      sealed: [[[1]]],
      usable: [
        [[1], CALLER],
        [[1], null],
      ],
      typeOf: [[1]],
      byName: [['Machine', 1, 2]],
      isUsed: [[1]],
      namesOfType: [[1]],
      isSharedOutside: [
        [1, 2],
        [1, null],
      ],
    }),
    samplesOf(sources.CredentialInputSourcesRepository, {
      ofTargets: [[[1]]],
      copy: [[1, 2, [3], 4]],
    }),
  ],
  fragments: [
    fragmentsOf(types, { selectCredentialTypes: { calls: [[]], inside: asQuery } }),
    fragmentsOf(sources, {
      markedInputs: [[sql`'{}'::json`, sql`1`]],
      inputSourcesOf: { calls: [[[1]]], inside: asQuery },
    }),
    fragmentsOf(credentials, {
      allCredentials: { calls: [[]], inside: asQuery },
      visibleCredentials: { calls: [[CALLER]], inside: asQuery },
    }),
  ],
} satisfies FeatureSamples;
