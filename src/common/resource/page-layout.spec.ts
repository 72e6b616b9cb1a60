import { layoutNames } from './page-layout.js';

it('layoutNames returns every field that a layout names', () => {
  const layout = {
    sections: { 'What runs': ['project', 'playbook'], Webhooks: ['webhook_service'] },
    columns: ['name'],
  };
  expect(layoutNames(layout)).toEqual(['project', 'playbook', 'webhook_service', 'name']);
});
