import type { InjectionPlan } from './injection-plan.js';

/** Privilege escalation methods whose prompts begin with the method's name instead of `BECOME`. */
const BECOME_METHODS = [
  'sudo',
  'su',
  'pbrun',
  'pfexec',
  'dzdo',
  'pmrun',
  'runas',
  'enable',
  'doas',
  'ksu',
  'machinectl',
  'sesu',
];

/**
 * Returns the replies to prompts of `ansible-playbook` and the agent, by regular expression (in Python
 * syntax, for the runner). Prompts without a reply are omitted.
 */
export function promptAnswers(plan: InjectionPlan): Record<string, string> {
  const answers: [string, string][] = [];
  const add = (answer: string | null, ...patterns: string[]): void => {
    if (answer !== null) answers.push(...patterns.map((text): [string, string] => [text, answer]));
  };
  add(plan.sshKeyUnlock, String.raw`Enter passphrase for .*:\s*?$`);
  // An empty reply ends the dialog after a wrong passphrase, which would otherwise wait until the
  // timeout.
  add(plan.sshKeyUnlock === null ? null : '', String.raw`Bad passphrase, try again for .*:\s*?$`);
  add(
    plan.becomePassword,
    String.raw`BECOME password.*:\s*?$`,
    ...BECOME_METHODS.flatMap((method) => [method, method.toUpperCase()]).map(
      (method) => String.raw`${method} password.*:\s*?$`,
    ),
  );
  add(plan.sshPassword, String.raw`SSH password:\s*?$`, String.raw`Password:\s*?$`);
  for (const { id, password } of plan.vaults) {
    const label = id === '' ? 'Vault password' : String.raw`Vault password \(${escape(id)}\)`;
    add(password, String.raw`${label}:\s*?$`);
  }
  return Object.fromEntries(answers);
}

function escape(text: string): string {
  return text.replace(/[^A-Za-z0-9_]/gu, String.raw`\$&`);
}
