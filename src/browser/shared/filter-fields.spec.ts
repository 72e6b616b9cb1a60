import { FilterForm } from './filter-fields.js';

class Form extends FilterForm {}

it.each([
  [['main', 'release/*'], 'main, release/*'],
  [['a,b'], '["a,b"]'],
  [['[0-9]*'], '[0-9]*'],
])('the form of webhook filters keeps the refs %j', (refs, text) => {
  const form = new Form();
  const values = form.fromObject({ webhook_filters: { refs } });
  expect(values.filter_refs).toBe(text);
  expect(form.toBody({ ...values })).toEqual({ webhook_filters: { refs } });
});
