import type { Response } from 'express';
import { storeRefusal, takeRefusal } from './refusal.js';

it('a refusal is shown once, on the page of its form, and not on the pages below', () => {
  const cookies = new Map([['controller_session', 's']]);
  const response = {
    cookie: (name: string, value: string) => cookies.set(name, value),
    clearCookie: (name: string) => cookies.delete(name),
  } as unknown as Response;
  const requestOf = (path: string) => ({
    path,
    secure: false,
    headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
  });
  const body = { detail: 'No.' };
  const form = { returnTo: '/users/5/?page=2#may', path: '/users/5/roles/', chosen: 7, body };
  storeRefusal(requestOf(form.path), response, form);
  expect(takeRefusal(requestOf('/users/5/roles/'), response)).toBeNull();
  const refusal = { card: 'may', path: form.path, chosen: '7', messages: ['No.'] };
  expect(takeRefusal(requestOf('/users/5/'), response)).toEqual(refusal);
  expect(takeRefusal(requestOf('/users/5/'), response)).toBeNull();
});
