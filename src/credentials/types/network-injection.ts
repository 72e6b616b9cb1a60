import type { CredentialInputs } from './definition.js';
import { HIDDEN, withLineBreak, type InjectionTarget } from './injection-plan.js';
import { textInput } from './inputs.js';

/**
 * Passes a network credential to playbooks in the environment variables that Ansible documents for
 * network modules.
 */
export function injectNetwork({ plan, addFile }: InjectionTarget, inputs: CredentialInputs): void {
  const authorize = inputs['authorize'] === true;
  const set = (name: string, value: string, isSecret = false): void => {
    plan.env[name] = value;
    plan.safeEnv[name] = isSecret && value !== '' ? HIDDEN : value;
  };
  set('ANSIBLE_NET_USERNAME', textInput(inputs, 'username'));
  set('ANSIBLE_NET_PASSWORD', textInput(inputs, 'password'), true);
  const key = textInput(inputs, 'ssh_key_data');
  if (key !== '') set('ANSIBLE_NET_SSH_KEYFILE', addFile('ssh_key', withLineBreak(key)));
  set('ANSIBLE_NET_AUTHORIZE', authorize ? '1' : '0');
  if (authorize) set('ANSIBLE_NET_AUTH_PASS', textInput(inputs, 'authorize_password'), true);
}
