/**
 * Creates the objects of the demo: a template that runs a playbook of a manual project on one host.
 *
 * @param {import('./types.d.mts').World} world
 * @param {import('./types.d.mts').Call} call
 * @param {object} fields to change in the template
 * @returns {Promise<{ template: import('./types.d.mts').Answer, inventory: number }>}
 */
export async function createTemplate({ cli }, call, fields = {}) {
  await cli('demo-data');
  const { results } = await call('GET', 'job_templates/');
  const template = await call('PATCH', `job_templates/${results[0].id}/`, {
    allow_simultaneous: true,
    ...fields,
  });
  return { template, inventory: template.inventory };
}
