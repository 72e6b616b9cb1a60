import { errorsAt, topErrors } from './form-errors.js';

describe('errors of a JSON document', () => {
  const errors = { inputs: { key: ['Damaged.'], more: ['Unexpected.'] }, name: ['Taken.'] };
  const shown = ['name', 'inputs.key'];

  it('appear at the fields of the members', () => {
    expect(errorsAt(errors, 'inputs.key')).toEqual(['Damaged.']);
    expect(errorsAt(errors, 'inputs.other')).toEqual([]);
    expect(errorsAt(errors, 'name')).toEqual(['Taken.']);
    expect(errorsAt({ inputs: ['Not an object.'] }, 'inputs.key')).toEqual([]);
    expect(errorsAt(undefined, 'inputs.key')).toEqual([]);
  });

  it('appear above the form if the form has no field for the member', () => {
    const top = String(topErrors(errors, shown));
    expect(top).toContain('Unexpected.');
    expect(top).not.toContain('Damaged.');
    expect(top).not.toContain('Taken.');
    expect(String(topErrors({ inputs: { key: ['Damaged.'] } }, shown))).not.toContain('Damaged.');
  });
});
