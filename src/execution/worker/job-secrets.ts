import type { SecretBox } from '../../common/crypto/secret-box.js';
import { openPasswords, openSecrets } from '../../prompts/launch-secrets.js';
import type { JobContext } from '../../runs/job-contexts.repository.js';

/** The secrets of a job. */
export interface JobSecrets {
  passwords: Readonly<Record<string, string>>;
  answers: Readonly<Record<string, unknown>>;
}

/**
 * Decrypts the secrets that were stored at launch: passwords by name, and the secret answers of a
 * survey by variable. `extra_vars` holds a mask in place of these answers.
 *
 * @throws UnsealError if they cannot be opened with the installation's keys
 */
export function jobSecrets(
  box: SecretBox,
  { id, start_args: sealed, launch_config: config }: JobContext,
): JobSecrets {
  return {
    passwords: openPasswords(box, id, sealed),
    answers: openSecrets(box, id, config),
  };
}
