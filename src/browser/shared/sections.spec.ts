import { inSections } from './sections.js';

const LAYOUT = {
  sections: { 'What runs': ['project', 'playbook'], Webhooks: ['webhook_service'] },
};
const sectionsOf = (names: readonly string[]) => inSections(LAYOUT, names, (name) => name);

describe('sections', () => {
  it('puts fields under their headings in the declared order, the other fields first', () => {
    expect(sectionsOf(['playbook', 'name', 'project', 'webhook_service', 'status'])).toEqual([
      { title: '', parts: ['name', 'status'] },
      { title: 'What runs', parts: ['project', 'playbook'] },
      { title: 'Webhooks', parts: ['webhook_service'] },
    ]);
  });

  it('omits headings without fields', () => {
    expect(sectionsOf(['playbook'])).toEqual([{ title: 'What runs', parts: ['playbook'] }]);
  });

  it('is one list without headings if none are declared', () => {
    expect(inSections({}, ['b', 'a'], (name) => name)).toEqual([{ title: '', parts: ['b', 'a'] }]);
  });
});
