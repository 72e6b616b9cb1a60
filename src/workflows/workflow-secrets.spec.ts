import { SecretBox } from '../common/crypto/secret-box.js';
import { sealWorkflowSecrets, secretFiller, secretNamesOf } from './workflow-secrets.js';

const box = new SecretBox('a key for tests');
const secret = (identifier: string, name: string) => ({
  ...{ identifier, secrets: [name] },
  prompts: { extra_vars: { [name]: `secret of ${identifier}` } },
});

it('a node gets its own secret answers only, whatever its identifier and variables are', () => {
  const config = sealWorkflowSecrets(box, 1, [
    secret('', 'all'),
    secret('/node', 'pw'),
    secret('a/b', 'pw'),
    secret('a%2Fb', 'pw'),
  ]);
  const fill = secretFiller(box, 1, config);
  for (const identifier of ['/node', 'a/b', 'a%2Fb']) {
    const { extra_vars } = fill(identifier, { extra_vars: { pw: '$encrypted$' } });
    expect(extra_vars).toEqual({ pw: `secret of ${identifier}` });
  }
  for (const [identifier, name] of [
    ['a', 'b/pw'],
    ['', 'node/pw'],
  ] as const) {
    expect(fill(identifier, { extra_vars: { [name]: 'x' } }).extra_vars).toEqual({ [name]: 'x' });
  }
  expect(secretNamesOf(config)).toEqual(['all']);
});
