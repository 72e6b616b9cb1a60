import { passwordFaults } from './password-rules.js';

const none = {
  LOCAL_PASSWORD_MIN_LENGTH: 0,
  LOCAL_PASSWORD_MIN_DIGITS: 0,
  LOCAL_PASSWORD_MIN_UPPER: 0,
  LOCAL_PASSWORD_MIN_SPECIAL: 0,
};

describe('passwordFaults', () => {
  it('limits only the length if no other rule is set', () => {
    expect(passwordFaults('x', none)).toEqual([]);
    expect(passwordFaults('x'.repeat(128), none)).toEqual([]);
    expect(passwordFaults('x'.repeat(129), none)).toEqual(['Password max length is 128']);
  });

  it('names every rule that is not met', () => {
    const rules = {
      LOCAL_PASSWORD_MIN_LENGTH: 8,
      LOCAL_PASSWORD_MIN_DIGITS: 2,
      LOCAL_PASSWORD_MIN_UPPER: 1,
      LOCAL_PASSWORD_MIN_SPECIAL: 1,
    };
    expect(passwordFaults('short', rules)).toEqual([
      'Password must be at least 8 characters long.',
      'Password must contain at least 2 digits.',
      'Password must contain at least 1 uppercase characters.',
      'Password must contain at least 1 special characters.',
    ]);
    expect(passwordFaults('Ärger-12', rules)).toEqual([]);
  });
});
