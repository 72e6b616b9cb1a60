import { MASK } from './mask.js';
import { baseEnvironment, maskedEnvironment, runEnvironment } from './run-environment.js';

const FOLDER = '/runs/r';

describe('baseEnvironment', () => {
  it('does not contain the secrets of the worker', () => {
    const source = {
      PATH: '/bin',
      SECRET_KEY: 's',
      DATABASE_URL: 'd',
      LC_TIME: 'de',
      AUTOMATION_CONTROLLER_RUN: 'x',
    };
    expect(baseEnvironment(source, '7:1:abc')).toEqual({
      PATH: '/bin',
      LANG: 'C.UTF-8',
      LC_TIME: 'de',
      PYTHONUNBUFFERED: '1',
      AUTOMATION_CONTROLLER_RUN: '7:1:abc',
    });
  });
});

describe('runEnvironment', () => {
  it('sets the variables of the contract, which override those of the caller', () => {
    const env = {
      JOB_ID: 'x',
      OWN: '1',
      ANSIBLE_FORCE_COLOR: 'False',
      AUTOMATION_CONTROLLER_RUN: 'forged',
      AD_HOC_COMMAND_ID: '1',
      'BAD NAME': 'x',
      NUL: 'a\0b',
    };
    const result = runEnvironment(
      { jobId: 7, inventoryId: 3, projectRevision: 'abc', env },
      FOLDER,
    );
    expect(result).toMatchObject({
      JOB_ID: '7',
      INVENTORY_ID: '3',
      PROJECT_REVISION: 'abc',
      OWN: '1',
      ANSIBLE_FORCE_COLOR: 'False',
      ANSIBLE_HOST_KEY_CHECKING: 'False',
      MAX_EVENT_RES: '700000',
      ANSIBLE_SSH_CONTROL_PATH_DIR: '/runs/r/cp',
    });
    for (const name of ['AUTOMATION_CONTROLLER_RUN', 'AD_HOC_COMMAND_ID', 'BAD NAME', 'NUL']) {
      expect(result).not.toHaveProperty([name]);
    }
  });
});

describe('maskedEnvironment', () => {
  it('hides values by name, by request and within URLs', () => {
    const env = {
      CLOUD_TOKEN: 'a',
      my_password: 'b',
      ACCOUNT: 'c',
      PLAIN: 'd',
      PROXY: 'http://bob:pw@host:1/',
      OTHER_PROXY: 'http://bob:p@w@host:1/',
      ANSIBLE_HOST_KEY_CHECKING: 'False',
      ANSIBLE_NET_PASSWORD: 'e',
      ANSIBLE_HASHI_VAULT_TOKEN: 'g',
      AWS_ACCESS_KEY_ID: 'f',
    };
    expect(maskedEnvironment(env, new Set(['ACCOUNT']))).toEqual({
      CLOUD_TOKEN: MASK,
      my_password: MASK,
      ACCOUNT: MASK,
      PLAIN: 'd',
      PROXY: `http://bob:${MASK}@host:1/`,
      OTHER_PROXY: `http://bob:${MASK}@host:1/`,
      ANSIBLE_HOST_KEY_CHECKING: 'False',
      ANSIBLE_NET_PASSWORD: MASK,
      ANSIBLE_HASHI_VAULT_TOKEN: MASK,
      AWS_ACCESS_KEY_ID: 'f',
    });
  });
});
