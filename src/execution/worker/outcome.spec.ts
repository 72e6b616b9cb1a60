import { UnsealError } from '../../common/crypto/secret-box.js';
import { outcomeOf } from './outcome.js';

it('a run explains that a stored secret cannot be decrypted', () => {
  expect(outcomeOf(new UnsealError('unknown_key'))).toEqual({
    status: 'error',
    explanation: 'A stored secret cannot be decrypted (unknown_key).',
  });
});
