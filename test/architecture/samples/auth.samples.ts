import { SessionsRepository } from '../../../src/auth/sessions.repository.js';
import { TokensRepository } from '../../../src/auth/tokens.repository.js';
import { samplesOf, type RoomSamples } from './samples.js';

const SESSION = { digest: 'd', ageSeconds: 60, maxAgeSeconds: 600 };
const TOKEN = { description: '', scope: 'write', user: 1, digest: 'd', lifetimeSeconds: 60 };

export default {
  repositories: [
    samplesOf(SessionsRepository, {
      start: [['d', 1]],
      user: [[SESSION, 30]],
      isOpen: [[SESSION]],
      lockUser: [[SESSION]],
      touch: [['d']],
      keep: [['d', 1, 2]],
      countQuiet: [[1]],
      removeQuiet: [[1, 10]],
      end: [['d']],
    }),
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
      add: [[TOKEN]],
    }),
  ],
  fragments: [],
} satisfies RoomSamples;
