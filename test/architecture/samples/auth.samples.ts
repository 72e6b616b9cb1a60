import * as tokens from '../../../src/auth/tokens.repository.js';
import { samplesOf, type RoomSamples } from './samples.js';

export default {
  repositories: [
    samplesOf(tokens.TokensRepository, {
      endOthers: [
        [1, null],
        [1, 'digest'],
      ],
    }),
  ],
  fragments: [],
} satisfies RoomSamples;
