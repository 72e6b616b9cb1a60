import type { Request, Response } from 'express';
import request from 'supertest';
import { routedByCollection } from './collection-routers.js';

/** Returns a handler that responds with the name of its route and the parameters. */
const handlerOf =
  (route: string) =>
  ({ params, baseUrl }: Request, response: Response): void => {
    response.json({ route, params, baseUrl });
  };

describe('an application with a router for each collection', () => {
  const application = routedByCollection();
  application.use((_request, response, next) => {
    response.setHeader('X-Passed', 'yes');
    next();
  });
  application.get('/metrics', handlerOf('metrics'));
  application.get('/api/v2/hosts', handlerOf('hosts'));
  application.get('/api/v2/jobs/:id', handlerOf('one job'));
  application.post('/api/v2/jobs/:id', handlerOf('change of a job'));
  application.get('/api/v2', handlerOf('root'));
  application.all('/{*path}', handlerOf('wildcard'));

  const reached = async (method: 'get' | 'post' | 'put' | 'options', path: string) => {
    const { body, headers } = (await request(application)[method](path)) as {
      body: { route: string; params: object; baseUrl: string };
      headers: Record<string, string>;
    };
    expect(headers['x-passed']).toBe('yes');
    expect(body.baseUrl).toBe('');
    return body;
  };

  it('does not match a request against the routes of other collections', () => {
    const { stack } = application.router as unknown as { stack: { name: string }[] };
    expect(stack.map(({ name }) => name)).toEqual([
      ...['<anonymous>', 'handle', 'dispatch', 'handle', 'handle'],
    ]);
  });

  it.each([
    ['/metrics', 'metrics'],
    ['/api/v2', 'root'],
    ['/api/v2/', 'root'],
    ['/api/v2/hosts/', 'hosts'],
    ['/API/V2/Hosts?order_by=id', 'hosts'],
    ['/api/v2/hosts/7/', 'wildcard'],
    ['/api/v2/hostsandmore/', 'wildcard'],
    ['/api/v2/__proto__/', 'wildcard'],
    ['/elsewhere/api/v2/hosts/', 'wildcard'],
  ])('routes %s to %s', async (path, route) => {
    expect(await reached('get', path)).toMatchObject({ route });
  });

  it('passes the parameters of a path to the handler', async () => {
    const { route, params } = await reached('post', '/api/v2/jobs/a%20b/');
    expect([route, params]).toEqual(['change of a job', { id: 'a b' }]);
  });

  it.each(['put', 'options'] as const)('leaves %s to the wildcard', async (method) => {
    expect(await reached(method, '/api/v2/jobs/7/')).toMatchObject({ route: 'wildcard' });
  });

  it('refuses a path that is not a string', async () => {
    await request(application).get('/api/v2/jobs/%E0%A4%A/').expect(400);
  });
});
