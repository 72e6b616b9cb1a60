import { VariablePrefixes, webhookVariables } from './variables.js';

const EVENT = {
  event: 'push',
  guid: 'g-1',
  ref: 'abc',
  ref_name: 'refs/heads/main',
  head_ref: 'abc',
  status_api: 'https://api.a.example.com/x',
};
const PREFIXES = ['svc_', 'awx_', 'tower_'];

describe('webhookVariables', () => {
  it('sets the variables of the contract with all prefixes', () => {
    const payload = '{"after":"abc","nested":{"list":[1]}}';
    const variables = webhookVariables({ ...EVENT, payload }, PREFIXES);
    for (const prefix of PREFIXES) {
      expect(variables).toMatchObject({
        [`${prefix}webhook_event_type`]: 'push',
        [`${prefix}webhook_event_guid`]: 'g-1',
        [`${prefix}webhook_event_ref`]: 'abc',
        [`${prefix}webhook_status_api`]: 'https://api.a.example.com/x',
        [`${prefix}webhook_payload`]: { after: 'abc', nested: { list: [1] } },
        [`${prefix}webhook_event_ref_name`]: 'refs/heads/main',
        [`${prefix}webhook_event_head_ref`]: 'abc',
      });
    }
    expect(Object.keys(variables)).toHaveLength(21);
    expect(variables['awx_webhook_payload']).toBe(variables['svc_webhook_payload']);
  });

  it('omits a payload that was not requested', () => {
    const names = Object.keys(webhookVariables(EVENT, PREFIXES));
    expect(names).toHaveLength(18);
    expect(names.filter((name) => name.endsWith('payload'))).toEqual([]);
  });

  it('sets missing values to null', () => {
    const variables = webhookVariables({ ...EVENT, ref: null, status_api: null, payload: null }, [
      'svc_',
    ]);
    expect(variables).toMatchObject({
      svc_webhook_event_ref: null,
      svc_webhook_status_api: null,
      svc_webhook_payload: null,
    });
  });
});

describe('VariablePrefixes', () => {
  it('always contains the prefix of the contract, once and first', () => {
    expect(new VariablePrefixes(['awx_', 'svc_', 'awx_']).all).toEqual(['svc_', 'awx_']);
    expect(new VariablePrefixes([]).all).toEqual(['svc_']);
  });

  it('refuses a prefix with which no variable name can start', () => {
    expect(() => new VariablePrefixes(['ok_', '', '1_', 'a-b_'])).toThrow('["","1_","a-b_"]');
  });
});
