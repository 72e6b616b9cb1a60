import type { TypedInputs } from './definition.js';
import { secret } from './managed-type.js';

type TokenUse = <Credential extends TypedInputs>(
  credential: Credential,
  token: string,
) => Credential;

/** Functions that add the issued token to a credential, by the namespace of its type. */
const USES: Readonly<Record<string, TokenUse>> = {
  /** Git sends the token as the password of this user. */
  github_app_token: (credential, token) => ({
    ...credential,
    inputs: { ...credential.inputs, username: 'x-access-token', password: token },
  }),
  /** The playbook reads the token from a file. */
  run_identity_token: (credential, token) => ({
    ...credential,
    type: {
      ...credential.type,
      inputs: { fields: [...(credential.type.inputs.fields ?? []), secret('token', 'Token')] },
      injectors: {
        file: { template: '{{ token }}' },
        env: { RUN_IDENTITY_TOKEN_FILE: '{{ tower.filename }}' },
      },
    },
    inputs: { ...credential.inputs, token },
  }),
};

/** Returns true if a credential gets a token when it is used. */
export const needsToken = ({ type: { namespace } }: TypedInputs): boolean =>
  Object.hasOwn(USES, namespace ?? '');

/** Returns a credential with the token that was issued for it. */
export const withToken: TokenUse = (credential, token) =>
  USES[credential.type.namespace ?? '']?.(credential, token) ?? credential;
