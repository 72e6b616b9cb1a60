import type { SettingValues } from '../config/settings.js';

const MAX_LENGTH = 128;

type Rules = Pick<
  SettingValues,
  | 'LOCAL_PASSWORD_MIN_LENGTH'
  | 'LOCAL_PASSWORD_MIN_DIGITS'
  | 'LOCAL_PASSWORD_MIN_UPPER'
  | 'LOCAL_PASSWORD_MIN_SPECIAL'
>;

/**
 * Returns the requirements of the installation that a password does not meet
 * (docs/contract/resources.md#passwords).
 */
export function passwordFaults(password: string, rules: Rules): string[] {
  // Skip the other checks: a request can contain megabytes.
  if (password.length > MAX_LENGTH) return [`Password max length is ${MAX_LENGTH}`];
  const count = (kind: RegExp): number => password.match(kind)?.length ?? 0;
  const requirements: [isMet: boolean, text: string][] = [
    [
      [...password].length >= rules.LOCAL_PASSWORD_MIN_LENGTH,
      `Password must be at least ${rules.LOCAL_PASSWORD_MIN_LENGTH} characters long.`,
    ],
    [
      count(/\p{Nd}/gu) >= rules.LOCAL_PASSWORD_MIN_DIGITS,
      `Password must contain at least ${rules.LOCAL_PASSWORD_MIN_DIGITS} digits.`,
    ],
    [
      count(/\p{Lu}/gu) >= rules.LOCAL_PASSWORD_MIN_UPPER,
      `Password must contain at least ${rules.LOCAL_PASSWORD_MIN_UPPER} uppercase characters.`,
    ],
    [
      count(/[^\p{L}\p{N}]/gu) >= rules.LOCAL_PASSWORD_MIN_SPECIAL,
      `Password must contain at least ${rules.LOCAL_PASSWORD_MIN_SPECIAL} special characters.`,
    ],
  ];
  return requirements.filter(([isMet]) => !isMet).map(([, text]) => text);
}
