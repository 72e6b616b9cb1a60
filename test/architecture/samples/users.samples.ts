import { sql } from '../../../src/database/sql.js';
import { CALLER } from './actors.js';
import * as users from '../../../src/users/users.repository.js';
import { asQuery, fragmentsOf, samplesOf, type FeatureSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(users.UsersRepository, {
      referenced: [[1]],
      accountById: [[1]],
      setDisabled: [[1, true]],
      accountByName: [['ada']],
      firstSuperuser: [[]],
      hasLocalSuperuser: [[]],
      hasOtherSuperuser: [[1]],
      hasSuperuser: [[]],
      saveSuperuser: [['ada', '']],
      lockAccount: [[1]],
      lockForChange: [[[1, 2]]],
      noteLogin: [[1]],
      lockSuperusers: [[]],
      setSecondFactor: [
        [1, true],
        [1, false],
      ],
      setFlag: [[1, 'is_superuser', true]],
    }),
  ],
  fragments: [
    fragmentsOf(users, {
      userNames: { calls: [[]], inside: asQuery },
      externalAccounts: { calls: [[]], inside: asQuery },
      accounts: { calls: [[]], inside: asQuery },
      usernameOf: [[sql`1`, CALLER]],
      usersOutside: [[sql`SELECT 1`, 2]],
    }),
  ],
} satisfies FeatureSamples;
