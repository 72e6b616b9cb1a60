import type { SecretBox } from '../../common/crypto/secret-box.js';
import { openPasswords, openSecrets } from '../../prompts/launch-secrets.js';
import type { JobContext } from '../../runs/job-contexts.repository.js';

/** What a job was given in confidence. */
export interface JobSecrets {
  passwords: Readonly<Record<string, string>>;
  answers: Readonly<Record<string, unknown>>;
}

/**
 * What was given at launch and is kept sealed: passwords by name, and the secret answers of a survey
 * by variable, whose places in `extra_vars` hold a mask.
 *
 * @throws UnsealError when they cannot be opened with the installation's keys
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
