import { textInput } from '../types/inputs.js';
import { onceOnly } from './once.js';
import type { SecretStore } from './secret-store.js';

/** Returns the token that identifies a run, for its playbook. */
export const runIdentityToken: SecretStore = (inputs, { runToken }) => ({
  read: onceOnly(() => runToken(textInput(inputs, 'audience'), 'run')),
});
