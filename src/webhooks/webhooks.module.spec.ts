/**
 * Needs an environment in which no module is loaded.
 * Budget: 20 s, because the test loads every module of the product.
 *
 * @jest-environment node
 */
it('loads without any other module loaded before', async () => {
  const { WebhooksModule } = await import('./webhooks.module.js');
  expect(Reflect.getMetadata('controllers', WebhooksModule)).not.toHaveLength(0);
});
