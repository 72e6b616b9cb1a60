import { ApplicationsRepository } from '../../../src/applications/applications.repository.js';
import { PasskeysRepository } from '../../../src/auth/passkeys.repository.js';
import { RecoveryCodesRepository } from '../../../src/auth/recovery-codes.repository.js';
import { SessionsRepository } from '../../../src/auth/sessions.repository.js';
import { TokensRepository } from '../../../src/auth/tokens.repository.js';
import { TotpSecretsRepository } from '../../../src/auth/totp-secrets.repository.js';
import { samplesOf, type FeatureSamples } from './samples.js';

const SESSION = { digest: 'd', ageSeconds: 60, maxAgeSeconds: 600, externalSeconds: 600 };
const GRANT = '00000000-0000-4000-8000-000000000000';
const CODE = {
  digest: 'd',
  application_id: 1,
  user_id: 1,
  redirect_uri: 'https://a',
  scope: 'read',
};
const TOKEN = { description: '', scope: 'write', user: 1, digest: 'd', lifetimeSeconds: 60 };

export default {
  repositories: [
    samplesOf(SessionsRepository, {
      start: [['d', 1, false, null]],
      keepNewest: [[1, 2, 60]],
      user: [[SESSION, 30]],
      isOpen: [[SESSION]],
      lockUser: [[SESSION]],
      touch: [['d']],
      keep: [['d', 1, 2]],
      countInactive: [[1]],
      removeInactive: [[1, 10]],
      end: [['d']],
    }),
    samplesOf(TotpSecretsRepository, { locked: [[1]], accept: [[1, 2]], refuse: [[1]] }),
    samplesOf(PasskeysRepository, {
      ofUser: [[1]],
      use: [[{ id: 1, counter: 1, issued: 1 }]],
    }),
    samplesOf(RecoveryCodesRepository, { replace: [[1, ['d']]], take: [[1, 'd']] }),
    samplesOf(TokensRepository, {
      endOthers: [
        [1, null],
        [1, 'digest'],
      ],
      addByName: [['ada', TOKEN]],
      countExpired: [[30]],
      removeExpired: [[30, 10]],
      use: [['d']],
      lockUse: [['d']],
      touch: [['d']],
      add: [[TOKEN], [{ ...TOKEN, application: 1, grant: GRANT }]],
      addRefresh: [[{ ...TOKEN, application: 1, grant: GRANT }]],
      refresh: [['d']],
      takeRefresh: [['d', 'write']],
      renew: [[{ ...TOKEN, application: 1, grant: GRANT }]],
      ofApplications: [[[1]]],
      endGrant: [[GRANT]],
      setRefreshScope: [[1, 'read']],
      endRefreshOf: [[1]],
      grantOf: [['d', 1]],
    }),
    samplesOf(ApplicationsRepository, {
      byClientId: [['a']],
      addCode: [[{ ...CODE, code_challenge: null, grant_id: GRANT }, 60]],
      code: [['d']],
      takeCode: [['d']],
    }),
  ],
  fragments: [],
} satisfies FeatureSamples;
