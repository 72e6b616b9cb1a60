/**
 * Needs modules that nothing has loaded.
 * Budget: 20 s, because it loads every module of the product anew.
 *
 * @jest-environment node
 */
it('loads without any other module loaded before', async () => {
  const { WebhooksModule } = await import('./webhooks.module.js');
  expect(Reflect.getMetadata('controllers', WebhooksModule)).not.toHaveLength(0);
});
