import type { AnsibleRun } from './ansible-run.js';

const REGEXP_SIGNS = /[.*+?^${}()|[\]\\]/g;

/**
 * Returns the input for prompts as patterns (Python's `re`) and secrets, for `env/passwords`. The
 * runner compares the last 100 characters only, so a pattern matches the end of a prompt.
 */
export function passwordAnswers(run: AnsibleRun): Record<string, string> {
  const answers: Record<string, string> = {};
  if (run.sshKeyData && run.sshKeyUnlock) {
    // ssh prompts again without end after a wrong passphrase; an empty line aborts.
    answers['Bad passphrase, try again for [^\\n]*:\\s*?$'] = '';
    answers['ssh_key_data:\\s*?$'] = run.sshKeyUnlock;
  }
  if (run.passwords?.ssh) {
    answers['SSH password:\\s*?$'] = run.passwords.ssh;
    answers['^Password:\\s*?$'] = run.passwords.ssh;
  }
  if (run.passwords?.become) {
    const method = (run.becomeMethod || 'sudo').replace(REGEXP_SIGNS, '\\$&');
    answers['BECOME password[^\\n]*:\\s*?$'] = run.passwords.become;
    answers[`${method} password[^\\n]*:\\s*?$`] = run.passwords.become;
  }
  for (const { id, password } of run.vaultPasswords ?? []) {
    const name = id ? ` \\(${id.replace(REGEXP_SIGNS, '\\$&')}\\)` : '';
    answers[`Vault password${name}:\\s*?$`] = password;
  }
  return answers;
}
