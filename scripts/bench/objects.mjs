/**
 * The objects of the demo: a template that runs a playbook of a manual project on one host.
 *
 * @param fields of the template to be changed
 * @returns the template and the id of its inventory
 */
export async function makeTemplate({ cli }, call, fields = {}) {
  await cli('demo-data');
  const { results } = await call('GET', 'job_templates/');
  const template = await call('PATCH', `job_templates/${results[0].id}/`, {
    allow_simultaneous: true,
    ...fields,
  });
  return { template, inventory: template.inventory };
}
