import { VariablePrefixes, webhookVariables } from './variables.js';

const EVENT = {
  type: 'push',
  guid: 'g-1',
  ref: 'abc',
  refName: 'refs/heads/main',
  headRef: 'abc',
  statusApi: 'https://api.a.example.com/x',
  payloadText: '{"after":"abc","nested":{"list":[1]}}',
};

describe('webhookVariables', () => {
  it('sets the variables of the contract with all three prefixes', () => {
    const variables = webhookVariables(EVENT);
    for (const prefix of ['svc_', 'awx_', 'tower_']) {
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
    const { type, guid, ref, refName, headRef, statusApi } = EVENT;
    const names = Object.keys(webhookVariables({ type, guid, ref, refName, headRef, statusApi }));
    expect(names).toHaveLength(18);
    expect(names.filter((name) => name.endsWith('payload'))).toEqual([]);
  });

  it('sets missing values to null', () => {
    const variables = webhookVariables(
      { ...EVENT, ref: null, statusApi: null, payloadText: null },
      ['svc_'],
    );
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
