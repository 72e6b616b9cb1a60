/**
 * Needs modules that nothing has loaded.
 *
 * @jest-environment node
 */
it('is made whatever was loaded before, nothing too', async () => {
  const { WebhooksModule } = await import('./webhooks.module.js');
  expect(Reflect.getMetadata('controllers', WebhooksModule)).not.toHaveLength(0);
});
