import { boot, type TestApp } from '../support/boot.js';

let test: TestApp;
beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

it('shows the caller', async () => {
  const { body } = await test.as.orgMember.get('me/').expect(200);
  expect(body.results[0]).toMatchObject({ username: 'orgMember' });
});
