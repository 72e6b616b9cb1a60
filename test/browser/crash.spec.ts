import { boot, type TestApp } from '../support/boot.js';
import { inBrowser, visit } from './browser.js';

let test: TestApp;

beforeAll(async () => {
  test = await boot();
});
afterAll(() => test.close());

inBrowser()('a browser that crashes', () => {
  it('is restarted for the next visit', async () => {
    const first = await visit(test, null);
    const browser = first.page.context().browser();
    const gone = new Promise((resolve) => browser?.once('disconnected', resolve));
    const session = await browser?.newBrowserCDPSession();
    session?.send('Browser.crash').catch(() => undefined);
    await gone;
    const second = await visit(test, null);
    await second.page.goto('/');
    await second.page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
    expect(second.page.context().browser()).not.toBe(browser);
    await second.close();
  });
});
